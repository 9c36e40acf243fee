import type { Choice, ChoiceOf } from './choice.js';
import { Delivery } from './delivery.js';
import { injected } from './injected.js';
import { asText } from './interner.js';
import type { Lives } from './lives.js';
import { outcomeOf } from './outcome.js';
import { awaitQuiet } from './quiet.js';
import { inTime } from './reply-limit.js';
import type { WorldState } from './state.js';
import type { Step } from './trace.js';
import { after, turn } from './turn.js';

/** Real time within which a server must have noticed a deadlock. */
const deadlockLimitMs = 3_000;

/** Carries out one choice: runs the statement, delivers or withholds its answer, kills, restarts, moves the clock. */
export class Stepper<DB> {
  private readonly state: WorldState<DB>;
  private readonly lives: Lives<DB>;
  private readonly delivery: Delivery<DB>;

  constructor(state: WorldState<DB>, lives: Lives<DB>) {
    this.state = state;
    this.lives = lives;
    this.delivery = new Delivery(state);
  }

  /** Lets one thing happen, and all that follows from it without a further choice. */
  async take(choice: Choice): Promise<Step> {
    const step = await this.carryOut(choice);
    await awaitQuiet(this.state);
    step.nowMs = this.state.nowMs;
    return step;
  }

  /** Waits until the server lets one of the statements go that wait for locks; returns what came of it. */
  async letServerDecide(): Promise<Step[]> {
    const waiting = this.state.processes.flatMap((each) => each.inFlight.map(({ outcome }) => outcome));
    const victim = this.state.processes.find(
      (each) => each.inFlight.length > 0 && each.connection?.refuse !== undefined,
    );
    if (victim === undefined) await Promise.race([...waiting, after(deadlockLimitMs)]);
    else await this.delivery.refuse(victim);
    await this.delivery.collectFreed();
    await awaitQuiet(this.state);
    return this.state.late.splice(0);
  }

  private carryOut(choice: Choice): Promise<Step> {
    switch (choice.kind) {
      case 'step':
      case 'lost-reply':
        return this.goOn(choice);
      case 'failure':
        return this.fail(choice);
      case 'kill':
        return this.kill(choice);
      case 'restart':
        return this.restart(choice);
      case 'jump':
      case 'database-jump':
      case 'advance':
      case 'time-passes':
        return this.moveClock(choice);
      case 'disk-full':
      case 'disk-healed':
        return this.switchDisk(choice);
    }
  }

  private async goOn(choice: ChoiceOf<'step' | 'lost-reply'>): Promise<Step> {
    const { state } = this;
    const { by, parked } = choice;
    const step = this.delivery.stepOf(choice.kind, by, parked);
    by.unpark(parked.id);
    by.passed = parked.label;
    state.last = by.index;
    for (const operation of by.operations) {
      state.footprint.operation = true;
      state.operations.touch(operation, state.steps);
    }
    if (parked.kind === 'timer') this.state.spend('timers');
    if (parked.kind === 'sql') return this.delivery.statement(choice, step);
    if (parked.kind === 'effect') state.footprint.effect = true;
    const outcome = await outcomeOf(parked, () => by.pending.length > 0);
    await this.delivery.deliver(choice, outcome, step);
    if (parked.kind === 'effect') this.countEffect(choice, outcome.ok, step);
    return step;
  }

  private countEffect({ by, parked }: ChoiceOf<'step' | 'lost-reply'>, tookPlace: boolean, step: Step): void {
    const { state } = this;
    const what = `${by.index}${parked.label}${asText(parked.params)}${step.answer}`;
    state.effectsKey = state.interner.link(state.effectsKey, what);
    if (tookPlace) state.effects.set(parked.label, (state.effects.get(parked.label) ?? 0) + 1);
  }

  private async fail(choice: ChoiceOf<'failure'>): Promise<Step> {
    const { by, parked, error } = choice;
    const step = this.delivery.stepOf(choice.kind, by, parked);
    by.unpark(parked.id);
    by.passed = parked.label;
    this.state.last = by.index;
    this.state.spend('failures');
    await this.delivery.deliver(choice, { ok: false, error: injected.add(error()) }, step);
    return step;
  }

  private async kill(choice: ChoiceOf<'kill'>): Promise<Step> {
    const { state } = this;
    const { victim } = choice;
    const before = [...victim.pending, ...victim.inFlight.map((each) => each.parked)];
    const step = this.delivery.stepOf(choice.kind, victim, {
      label: before.map((each) => each.label).join(' | '),
      kind: 'kill',
      params: [],
    });
    this.state.spend('crashes');
    state.footprint.lives = true;
    if (victim.connection?.inTransaction() === true || victim.inFlight.length > 0) state.footprint.sql = 'write';
    await this.lives.kill(victim);
    victim.view = '';
    state.version++;
    state.tablesMayDiffer();
    await this.delivery.collectFreed();
    return step;
  }

  private async restart(choice: ChoiceOf<'restart'>): Promise<Step> {
    const { state } = this;
    this.state.spend('restarts');
    state.footprint.lives = true;
    const born = await this.lives.restart(choice.victim, choice.samePid);
    state.last = born.index;
    const label = choice.samePid ? `with the same pid ${born.pid}` : `as pid ${born.pid}`;
    const step = this.delivery.stepOf(choice.kind, born, { label, kind: 'restart', params: [] });
    await turn();
    return step;
  }

  private async moveClock(choice: ChoiceOf<'jump' | 'database-jump' | 'advance' | 'time-passes'>): Promise<Step> {
    const { state } = this;
    if (choice.kind === 'jump') this.state.spend('clockJumps');
    if (choice.kind === 'time-passes') this.state.spend('timePasses');
    state.footprint.everything = true;
    const label = `${choice.toMs - state.nowMs} ms`;
    if (choice.kind === 'database-jump') {
      this.state.spend('databaseClockJumps');
      state.databaseAheadMs += choice.toMs - state.nowMs;
    } else state.nowMs = choice.toMs;
    state.version++;
    await inTime(state.store.setNow(state.nowMs + state.databaseAheadMs), 'setting the clock');
    return this.delivery.stepOf(choice.kind, undefined, { label, kind: 'clock', params: [] });
  }

  private async switchDisk(choice: ChoiceOf<'disk-full' | 'disk-healed'>): Promise<Step> {
    const { state } = this;
    state.diskIsFull = choice.kind === 'disk-full';
    if (state.diskIsFull) this.state.spend('diskFull');
    state.footprint.everything = true;
    state.version++;
    return this.delivery.stepOf(choice.kind, undefined, { label: '', kind: 'disk', params: [] });
  }
}
