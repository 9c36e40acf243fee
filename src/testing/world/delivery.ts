import { onlyReads } from './footprint.js';
import type { Incarnation } from './incarnation.js';
import { injected } from './injected.js';
import { asText } from './interner.js';
import { turn } from './lives.js';
import { collectFreed, outcomeOf, outcomeOrBlocked } from './outcome.js';
import type { Choice, InFlight, Outcome, Parked } from './parked.js';
import type { Simulation } from './simulation.js';
import type { Step } from './trace.js';

/** Runs statements and hands answers to processes: at once, late, or not at all. */
export class Delivery<DB> {
  private readonly world: Simulation<DB>;

  constructor(world: Simulation<DB>) {
    this.world = world;
  }

  /** Runs a statement, unless the disk is full; it may come out blocked or wait in flight. */
  async statement(choice: { readonly parked: Parked; readonly kind: Choice['kind'] }, step: Step): Promise<Step> {
    const { world } = this;
    const { parked } = choice;
    const { by } = parked;
    const writes = !onlyReads(parked.label);
    world.footprint.point = parked;
    world.footprint.sql = writes ? 'write' : 'read';
    if (world.diskIsFull && writes && !/^(begin|start|rollback)/i.test(parked.label)) {
      await this.deliver(parked, { ok: false, error: injected.add(world.store.errors.diskFull()) }, false, step);
      return step;
    }
    const running = outcomeOf(parked);
    const outcome = by.connection?.blocked === undefined ? await running : await outcomeOrBlocked(by, running);
    if (outcome === undefined) {
      const inFlight: InFlight = { parked, lostReply: choice.kind === 'lost-reply', outcome: running };
      by.inFlight.push(inFlight);
      world.version++;
      step.answer = '… waits for a lock';
      return step;
    }
    if (!outcome.ok && world.store.isBusy(outcome.error)) {
      by.pending.push(Object.assign(parked, { blockedAt: world.version }));
      step.answer = '… blocked by a lock';
      step.refused = true;
      return step;
    }
    if (writes) world.tablesMayDiffer();
    this.viewOf(by, writes);
    await this.deliver(parked, outcome, choice.kind === 'lost-reply', step);
    await this.collectFreed();
    return step;
  }

  /** Hands over an outcome, or what an injected fault makes of it. */
  async deliver(parked: Parked, given: Outcome, lostReply: boolean, step: Step): Promise<void> {
    const { world } = this;
    world.version++;
    if (lostReply) this.spend('lostReplies');
    const outcome: Outcome = lostReply
      ? { ok: false, error: injected.add(world.store.errors.connectionLost()) }
      : given;
    step.answer = asText(outcome.ok ? outcome.value : outcome.error);
    step.refused = !outcome.ok;
    parked.by.see(`${parked.label}${asText(parked.params)}=>${step.answer}`);
    if (outcome.ok) parked.resolve(outcome.value);
    else parked.reject(outcome.error);
    await turn();
  }

  /** A statement that had waited was let through by this step, which so belongs to two processes. */
  private async deliverLate(freed: InFlight, outcome: Outcome): Promise<void> {
    const { world } = this;
    const { parked } = freed;
    world.footprint.everything = true;
    world.tablesMayDiffer();
    for (const operation of parked.by.operations) world.operations.touch(operation, world.steps);
    this.viewOf(parked.by, true);
    const step = this.stepOf(freed.lostReply ? 'lost-reply' : 'step', parked.by, parked);
    await this.deliver(parked, outcome, freed.lostReply, step);
    step.nowMs = world.nowMs;
    world.late.push(step);
  }

  /** Hands over what statements that had waited for a lock have come to. */
  async collectFreed(): Promise<void> {
    await collectFreed(this.world, (freed, outcome) => this.deliverLate(freed, outcome));
  }

  /** Ends a deadlock at the cost of one process, as the server would. */
  async refuse(victim: Incarnation): Promise<void> {
    const [refused] = victim.inFlight;
    const error = await victim.connection?.refuse?.();
    if (refused === undefined || error === undefined) return;
    await refused.outcome;
    victim.inFlight = victim.inFlight.filter((other) => other !== refused);
    await this.deliverLate(refused, { ok: false, error });
  }

  /** A transaction may go on seeing the tables as they were: that is part of what its future depends on. */
  private viewOf(by: Incarnation, writes: boolean): void {
    if (by.connection?.inTransaction() !== true) by.view = '';
    else if (by.view === '' || by.view.endsWith('?')) by.view = `t${this.world.tablesKey}${by.view === '' ? '?' : ''}`;
    if (!writes) return;
    for (const each of this.world.processes) {
      if (each !== by && each.view !== '' && !each.view.endsWith('!')) each.view += '!';
    }
  }

  /** Takes one from a budget. */
  spend(budget: keyof Simulation<DB>['budget']): void {
    const { world } = this;
    world.budget[budget]--;
    world.met[budget] = (world.met[budget] ?? 0) + 1;
    world.footprint.budget = budget;
  }

  /** The record of a step that is about to be taken. */
  stepOf(
    kind: Choice['kind'],
    by: Incarnation | undefined,
    what: { label: string; kind: string; params: readonly unknown[] },
  ): Step {
    const { world } = this;
    if (by !== undefined) Object.assign(world.footprint, { process: by.name });
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
      nowMs: world.nowMs,
    };
  }
}
