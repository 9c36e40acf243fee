import type { Snapshot, TestStore } from '../store/store.js';
import type { Choice } from './choice.js';
import { choicesOf } from './choices.js';
import { emptyFootprint } from './footprint.js';
import type { Incarnation } from './incarnation.js';
import { checksDue, type Hearing } from './invariant.js';
import { Lives } from './lives.js';
import type { ProcessSource } from './load-main.js';
import { moveOf } from './move.js';
import { outOfTimers } from './out-of-timers.js';
import { awaitQuiet } from './quiet.js';
import { inTime } from './reply-limit.js';
import type { Pick, SimulationOptions } from './run-options.js';
import type { Scenario } from './scenario.js';
import { WorldState } from './state.js';
import { stateKey } from './state-key.js';
import { Stepper } from './stepper.js';
import { NeverSettles, Stuck, TooLong } from './trouble.js';

/** How a schedule came to its end: all ended, it was left by choice, or a bound cut it off. */
export type Ending = 'end' | 'left' | 'cut';

/** Runs one schedule of one scenario, from its first step to its end. */
export class Simulation<DB> {
  readonly state: WorldState<DB>;
  /** What was chosen so far, as places in the lists of choices. */
  readonly taken: number[] = [];
  /** The same as what they were. */
  readonly moves: string[] = [];
  private readonly lives: Lives<DB>;
  private readonly stepper: Stepper<DB>;
  private readonly options: SimulationOptions;
  private readonly afterStep: ReturnType<typeof checksDue<DB>>;

  constructor(store: TestStore<DB>, scenario: Scenario<DB>, options: SimulationOptions = {}) {
    this.state = new WorldState(store, scenario, options.interner);
    this.options = options;
    this.lives = new Lives(this.state);
    this.stepper = new Stepper(this.state, this.lives);
    this.afterStep = checksDue(scenario, 'step', this.hearing);
  }

  /** Runs to the end, or until `pick` leaves. Throws when a rule is broken or the schedule cannot go on. */
  async run(pick: Pick): Promise<Ending> {
    await this.begin();
    for (;;) {
      const choices = this.choices();
      if (choices.length === 0 && (await this.letServerDecide())) continue;
      if (choices.length === 0) break;
      const picked = pick(choices);
      const at = typeof picked === 'number' ? picked : await picked;
      const choice = choices[at];
      if (choice === undefined) {
        await this.leave();
        return 'left';
      }
      this.taken.push(at);
      this.moves.push(moveOf(choice, this.state.nowMs));
      await this.take(choice);
    }
    const waiting = outOfTimers(this.state);
    if (waiting.length > 0) return this.cutOff(waiting);
    this.assertAllEnded();
    await this.check('end');
    return 'end';
  }

  /** Makes the world as every schedule finds it. */
  async begin(): Promise<void> {
    const { store, nowMs, scenario } = this.state;
    await inTime(store.reset(), 'emptying the tables');
    await inTime(store.setNow(nowMs), 'setting the clock');
    await scenario.setup?.(this.state);
    await this.lives.begin();
    await this.refresh();
    this.compareLives();
    await this.afterStep?.(this.state);
  }

  /** What may happen next. */
  choices = (): Choice[] => choicesOf(this.state);

  /** Lets one thing happen, then checks what must hold after every step. */
  async take(choice: Choice): Promise<void> {
    const { state } = this;
    const { maxSteps = 400 } = this.options;
    if (state.steps >= maxSteps) throw new TooLong(maxSteps);
    state.before = state.snapshot;
    state.footprint = emptyFootprint('');
    const step = await this.stepper.take(choice);
    const steps = [step, ...state.late.splice(0)];
    state.log.push(...steps);
    state.acting = state.processes.filter((each) => steps.some((taken) => taken.process === each.name));
    const refreshed = this.refresh();
    if (refreshed !== undefined) await refreshed;
    if (this.options.drawn === true) step.tables = { before: state.before, after: state.snapshot };
    this.compareLives();
    const checked = this.afterStep?.(state);
    if (checked instanceof Promise) await checked;
  }

  /** Checks what must hold at a moment other than after a step. */
  async check(when: 'end' | 'healed'): Promise<void> {
    await checksDue(this.state.scenario, when, this.hearing)?.(this.state);
  }

  /** Gives every connection back; nothing goes on. */
  leave = (): Promise<void> => this.lives.end();

  /** What tells this state from others: equal keys have equal futures. */
  key = (): string => stateKey(this.state);

  /** Brings a process back once the faults are over, to run `main`. */
  async startAgain(dead: Incarnation, main: ProcessSource<DB>): Promise<void> {
    await this.lives.restart(dead, false, main);
    await awaitQuiet(this.state);
  }

  /** Throws if a process still waits though nothing can happen any more. */
  assertAllEnded(): void {
    const waiting = this.state.processes.filter((each) => each.alive);
    if (waiting.length > 0) throw new Stuck(waiting);
  }

  /** What is demanded once all is healed is demanded of a process that goes on for ever too. */
  private cutOff(waiting: readonly Incarnation[]): Ending {
    if (checksDue(this.state.scenario, 'healed') !== undefined) throw new NeverSettles(waiting);
    return 'cut';
  }

  private readonly hearing: Hearing = {
    asks: () => this.state.beginLook(),
    hears: ({ rule, ofChanges = false, reaches = false }, finding) => {
      this.state.endLook(ofChanges);
      const { spoken } = this.options;
      const before = spoken?.get(rule);
      if (before === 'spoke' || before === 'reached') return;
      if (reaches) spoken?.set(rule, finding === true ? 'reached' : 'missed');
      else spoken?.set(rule, finding === undefined ? 'silent' : 'spoke');
    },
  };

  /** All that is left waits for locks: a deadlock, which the server ends by refusing one of the statements. */
  private async letServerDecide(): Promise<boolean> {
    const { state } = this;
    if (!state.processes.some((each) => each.inFlight.length > 0)) return false;
    const late = await this.stepper.letServerDecide();
    if (late.length === 0) return false;
    state.log.push(...late);
    await this.refresh();
    await this.afterStep?.(state);
    return true;
  }

  private compareLives(): void {
    const { lives } = this.options;
    if (lives !== undefined) for (const each of this.state.processes) lives.compare(each);
  }

  private refresh(): Promise<void> | undefined {
    const { state } = this;
    if (!state.tablesAreStale) return undefined;
    state.tablesAreStale = false;
    const snapshot = inTime<Snapshot>(state.store.snapshot(), 'reading the tables');
    if (snapshot instanceof Promise) return snapshot.then((read) => state.see(read));
    state.see(snapshot);
    return undefined;
  }
}
