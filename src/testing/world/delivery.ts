import { onlyReads } from '../store/only-reads.js';
import type { Choice, ChoiceOf } from './choice.js';
import type { Incarnation } from './incarnation.js';
import { injected } from './injected.js';
import { asText } from './interner.js';
import { collectFreed, outcomeOf, outcomeOrBlocked } from './outcome.js';
import type { InFlight, Outcome } from './parked.js';
import type { WorldState } from './state.js';
import type { Step } from './trace.js';
import { turn } from './turn.js';

/** Runs statements and hands answers to processes: at once, late, or not at all. */
export class Delivery<DB> {
  private readonly state: WorldState<DB>;

  constructor(state: WorldState<DB>) {
    this.state = state;
  }

  /** Runs a statement, unless the disk is full; it may come out blocked or wait in flight. */
  async statement(choice: ChoiceOf<'step' | 'lost-reply'>, step: Step): Promise<Step> {
    const { state } = this;
    const { by, parked } = choice;
    const writes = !(state.store.readsOnly?.(parked.label) ?? onlyReads(parked.label));
    state.footprint.point = parked;
    state.footprint.sql = writes ? 'write' : 'read';
    if (state.diskIsFull && writes && !/^(begin|start|rollback)/i.test(parked.label)) {
      await this.deliver(choice, { ok: false, error: injected.add(state.store.errors.diskFull()) }, step);
      return step;
    }
    const running = outcomeOf(parked);
    const outcome = await outcomeOrBlocked(by, parked, running);
    if (outcome === undefined) {
      const inFlight: InFlight = { parked, lostReply: choice.kind === 'lost-reply', outcome: running };
      by.inFlight.push(inFlight);
      state.version++;
      step.answer = '… waits for a lock';
      return step;
    }
    if (!outcome.ok && state.store.isBusy(outcome.error)) {
      by.pending.push(Object.assign(parked, { blockedAt: state.version }));
      step.answer = '… blocked by a lock';
      step.refused = true;
      return step;
    }
    if (writes) state.tablesMayDiffer();
    this.viewOf(by, writes);
    await this.deliver(choice, outcome, step);
    await this.collectFreed();
    return step;
  }

  /** Hands over an outcome, or what an injected fault makes of it. */
  async deliver(
    { by, parked, kind }: ChoiceOf<'step' | 'lost-reply' | 'failure'>,
    given: Outcome,
    step: Step,
  ): Promise<void> {
    const { state } = this;
    state.version++;
    if (kind === 'lost-reply') state.spend('lostReplies');
    const outcome: Outcome =
      kind === 'lost-reply' ? { ok: false, error: injected.add(state.store.errors.connectionLost()) } : given;
    step.answer = asText(outcome.ok ? outcome.value : outcome.error);
    step.refused = !outcome.ok;
    by.see(`${parked.label}${asText(parked.params)}=>${step.answer}`);
    if (outcome.ok) parked.resolve(outcome.value);
    else parked.reject(outcome.error);
    await turn();
  }

  /** A statement that had waited was let through by this step, which so belongs to two processes. */
  private async deliverLate(by: Incarnation, { parked, lostReply }: InFlight, outcome: Outcome): Promise<void> {
    const { state } = this;
    state.footprint.everything = true;
    state.tablesMayDiffer();
    for (const operation of by.operations) state.operations.touch(operation, state.steps);
    this.viewOf(by, true);
    const kind = lostReply ? 'lost-reply' : 'step';
    const step = this.stepOf(kind, by, parked);
    await this.deliver({ kind, id: '', by, parked }, outcome, step);
    step.nowMs = state.nowMs;
    state.late.push(step);
  }

  /** Hands over what statements that had waited for a lock have come to. */
  async collectFreed(): Promise<void> {
    await collectFreed(this.state, (by, freed, outcome) => this.deliverLate(by, freed, outcome));
  }

  /** Ends a deadlock at the cost of one process, as the server would. */
  async refuse(victim: Incarnation): Promise<void> {
    const [refused] = victim.inFlight;
    const error = await victim.connection?.refuse?.();
    if (refused === undefined || error === undefined) return;
    await refused.outcome;
    victim.inFlight = victim.inFlight.filter((other) => other !== refused);
    await this.deliverLate(victim, refused, { ok: false, error });
  }

  /** A transaction may go on seeing the tables as they were: that is part of what its future depends on. */
  private viewOf(by: Incarnation, writes: boolean): void {
    if (by.connection?.inTransaction() !== true) by.view = '';
    else if (by.view === '' || by.view.endsWith('?')) by.view = `t${this.state.tablesKey}${by.view === '' ? '?' : ''}`;
    if (!writes) return;
    for (const each of this.state.processes) {
      if (each !== by && each.view !== '' && !each.view.endsWith('!')) each.view += '!';
    }
  }

  /** The record of a step that is about to be taken. */
  stepOf(
    kind: Choice['kind'],
    by: Incarnation | undefined,
    what: { label: string; kind: string; params: readonly unknown[] },
  ): Step {
    const { state } = this;
    if (by !== undefined) Object.assign(state.footprint, { process: by.name });
    return {
      process: by?.name ?? '',
      incarnation: by?.incarnation ?? 0,
      pid: by?.pid ?? 0,
      kind,
      point: what.kind,
      label: what.label,
      params: what.params,
      answer: undefined,
      refused: false,
      nowMs: state.nowMs,
    };
  }
}
