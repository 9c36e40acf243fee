import type { Row, Snapshot, TestStore } from '../store/store.js';
import { choicesOf } from './choices.js';
import { type Budget, budgetOf } from './faults.js';
import { emptyFootprint, type Footprint } from './footprint.js';
import type { Incarnation } from './incarnation.js';
import { asText, Interner } from './interner.js';
import { checksDue } from './invariant.js';
import { Lives } from './lives.js';
import { Operations } from './operations.js';
import { isOutOfTimers } from './out-of-timers.js';
import type { Choice } from './parked.js';
import { awaitQuiet } from './quiet.js';
import { type Pick, type SimulationOptions, startMs } from './run-options.js';
import type { Scenario } from './scenario.js';
import { stateKey } from './state-key.js';
import { Stepper } from './stepper.js';
import { lineOf, type Step } from './trace.js';
import { Stuck, TooLong } from './trouble.js';
import type { Fact, World } from './view.js';

/** One schedule of one scenario, from its first step to its end. */
export class Simulation<DB> implements World<DB> {
  readonly store: TestStore<DB>;
  readonly scenario: Scenario<DB>;
  readonly startMs = startMs;
  readonly budget: Budget;
  readonly interner: Interner;
  readonly operations = new Operations();
  readonly facts: Fact[] = [];
  readonly taken: number[] = [];
  readonly log: Step[] = [];
  /** Steps that the present one let through: statements whose lock came free. */
  readonly late: Step[] = [];
  readonly met: Partial<Record<keyof Budget, number>> = {};
  readonly lives: Lives<DB>;
  nowMs = startMs;
  databaseAheadMs = 0;
  /** Counts what moved: a point that met a lock is offered again when this has changed. */
  version = 0;
  diskIsFull = false;
  last = -1;
  footprint: Footprint = emptyFootprint('');
  snapshot: Snapshot = {};
  previous: Snapshot = {};
  actors: readonly Incarnation[] = [];
  readonly effects = new Map<string, number>();
  /** The order of all effects so far: what stands for the world outside unless the scenario tells of it. */
  effectsKey = 0;
  tablesKey = 0;
  private tablesAreStale = true;
  private readonly stepper: Stepper<DB>;
  private readonly maxSteps: number;
  private readonly drawn: boolean;
  private readonly afterStep: ReturnType<typeof checksDue<DB>>;

  constructor(store: TestStore<DB>, scenario: Scenario<DB>, options: SimulationOptions = {}) {
    this.store = store;
    this.scenario = scenario;
    this.budget = budgetOf(scenario.faults ?? {});
    this.interner = options.interner ?? new Interner();
    this.maxSteps = options.maxSteps ?? 400;
    this.drawn = options.drawn ?? false;
    this.lives = new Lives(this);
    this.stepper = new Stepper(this);
    this.afterStep = checksDue(scenario, 'step');
  }

  get processes(): readonly Incarnation[] {
    return this.lives.present;
  }

  get history() {
    return this.operations.history();
  }

  get trace(): readonly string[] {
    return this.log.map((step) => lineOf(step));
  }

  get steps(): number {
    return this.log.length;
  }

  readonly rows = (table: string): readonly Row[] => this.snapshot[table] ?? [];

  /** Takes note of a fact. */
  note(fact: Fact): void {
    this.facts.push(Object.freeze(fact));
  }

  /** What was committed may differ from the last snapshot. */
  tablesMayDiffer(): void {
    this.tablesAreStale = true;
  }

  /** Runs to the end, or until `pick` leaves. Throws when a rule is broken or the schedule cannot go on. */
  async run(pick: Pick): Promise<'end' | 'left'> {
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
      await this.take(choice);
    }
    if (isOutOfTimers(this)) return 'left';
    this.assertAllEnded();
    await this.check('end');
    return 'end';
  }

  /** Makes the world as every schedule finds it. */
  async begin(): Promise<void> {
    await this.store.reset();
    await this.store.setNow(this.nowMs);
    await this.scenario.setup?.(this);
    await this.lives.begin();
    await this.refresh();
    await this.afterStep?.(this);
  }

  /** What may happen next. */
  choices = (): Choice[] => choicesOf(this);

  /** Lets one thing happen, then checks what must hold after every step. */
  async take(choice: Choice): Promise<void> {
    if (this.log.length >= this.maxSteps) throw new TooLong(this.maxSteps);
    this.previous = this.snapshot;
    this.footprint = emptyFootprint('');
    const step = await this.stepper.take(choice);
    const steps = [step, ...this.late.splice(0)];
    this.log.push(...steps);
    this.actors = this.processes.filter((each) => steps.some((taken) => taken.process === each.name));
    const refreshed = this.refresh();
    if (refreshed !== undefined) await refreshed;
    if (this.drawn) step.tables = { before: this.previous, after: this.snapshot };
    const checked = this.afterStep?.(this);
    if (checked instanceof Promise) await checked;
  }

  /** Checks what must hold at a moment other than after a step. */
  check = async (when: 'end' | 'healed'): Promise<void> => void (await checksDue(this.scenario, when)?.(this));

  /** Gives every connection back; nothing goes on. */
  leave = (): Promise<void> => this.lives.end();

  /** What tells this state from others: equal keys have equal futures. */
  key(): string {
    return stateKey(this);
  }

  /** All that is left waits for locks: a deadlock, which the server ends by refusing one of the statements. */
  private async letServerDecide(): Promise<boolean> {
    if (!this.processes.some((each) => each.inFlight.length > 0)) return false;
    const late = await this.stepper.letServerDecide();
    if (late.length === 0) return false;
    this.log.push(...late);
    await this.refresh();
    await this.afterStep?.(this);
    return true;
  }

  /** Lets every process reach its next point. */
  async settle(): Promise<void> {
    await awaitQuiet(this);
  }

  private refresh(): Promise<void> | undefined {
    if (!this.tablesAreStale) return undefined;
    this.tablesAreStale = false;
    const keep = (snapshot: Snapshot) => {
      this.snapshot = snapshot;
      this.tablesKey = this.interner.id(asText(snapshot));
    };
    const snapshot = this.store.snapshot();
    if (snapshot instanceof Promise) return snapshot.then(keep);
    keep(snapshot);
    return undefined;
  }

  /** Throws if a process still waits though nothing can happen any more. */
  assertAllEnded(): void {
    const waiting = this.lives.present.filter((each) => each.alive);
    if (waiting.length > 0) throw new Stuck(waiting);
  }
}
