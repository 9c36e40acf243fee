import type { Row, Snapshot, TestStore } from '../store/store.js';
import { type Budget, budgetOf } from './faults.js';
import { emptyFootprint, type Footprint } from './footprint.js';
import type { Incarnation } from './incarnation.js';
import { asText, Interner } from './interner.js';
import { Operations } from './operations.js';
import type { Scenario } from './scenario.js';
import { startMs } from './start-ms.js';
import { lineOf, type Step } from './trace.js';
import type { Fact, World } from './view.js';

/** What a rule looked at that is no part of a state: a search that leaves transitions or histories out may miss it. */
export interface LookedAt {
  /** The tables before the last step, or who took it. */
  transition: boolean;
  /** The way on which the state was reached. */
  history: boolean;
}

/** What a rule looks at, as bits. */
const Look = Object.freeze({ transition: 1, history: 2, elsewhere: 4 });

/** One moment of one schedule, as data: what runs it changes it, and rules look at it. */
export class WorldState<DB> implements World<DB> {
  readonly store: TestStore<DB>;
  readonly scenario: Scenario<DB>;
  readonly interner: Interner;
  readonly startMs = startMs;
  readonly budget: Budget;
  /** How often each budget was spent from. */
  readonly met: Partial<Record<keyof Budget, number>> = {};
  readonly operations = new Operations();
  readonly log: Step[] = [];
  /** Steps that the present one let through: statements whose lock came free. */
  readonly late: Step[] = [];
  readonly lookedAt: LookedAt = { transition: false, history: false };
  private readonly noted: Fact[] = [];
  private readonly counted = new Map<string, number>();
  private readonly present: Incarnation[] = [];
  private looks = 0;
  nowMs = startMs;
  databaseAheadMs = 0;
  /** Someone slept while others went on, and the scenario has no budget for waking it there. */
  timeWasIdle = false;
  /** Counts what moved: a point that met a lock is offered again when this has changed. */
  version = 0;
  diskIsFull = false;
  /** The process that went on last. */
  last = -1;
  footprint: Footprint = emptyFootprint('');
  snapshot: Snapshot = {};
  /** The tables before the last step, and who took it. */
  before: Snapshot = {};
  acting: readonly Incarnation[] = [];
  /** The order of all effects so far: what stands for the world outside unless the scenario tells of it. */
  effectsKey = 0;
  tablesKey = 0;
  tablesAreStale = true;
  /** What a process threw that no injected fault explains: the next check of the schedule reports it. */
  threw: Error | undefined;

  constructor(store: TestStore<DB>, scenario: Scenario<DB>, interner = new Interner()) {
    this.store = store;
    this.scenario = scenario;
    this.interner = interner;
    this.budget = budgetOf(scenario.faults ?? {});
  }

  /** What the processes noted, in order. */
  get facts(): Fact[] {
    this.looks |= Look.elsewhere;
    return this.noted;
  }

  /** How often each effect took place. */
  get effects(): Map<string, number> {
    this.looks |= Look.elsewhere;
    return this.counted;
  }

  /** The latest incarnation of each process, in the scenario's order. */
  get processes(): Incarnation[] {
    this.looks |= Look.elsewhere;
    return this.present;
  }

  get history() {
    this.looks |= Look.elsewhere;
    return this.operations.history();
  }

  get previous(): Snapshot {
    this.looks |= Look.transition;
    return this.before;
  }

  get actors(): readonly Incarnation[] {
    this.looks |= Look.transition;
    return this.acting;
  }

  get trace(): readonly string[] {
    this.looks |= Look.history;
    return this.lines();
  }

  /** A rule is about to look. */
  beginLook(): void {
    this.looks = 0;
  }

  /**
   * A rule has looked. Which steps came before and after one another is another thing in every order of steps that
   * commute: a rule that looks at it must see all orders, unless it judges only what a step did to the rows.
   */
  endLook(ofChanges: boolean): void {
    const { looks } = this;
    if ((looks & Look.history) !== 0) this.lookedAt.history = true;
    if ((looks & Look.transition) === 0) return;
    const atRowsAlone = ofChanges && (looks & Look.elsewhere) === 0 && this.scenario.independent === undefined;
    if (!atRowsAlone) this.lookedAt.transition = true;
  }

  readonly rows = (table: string): readonly Row[] => this.snapshot[table] ?? [];

  get steps(): number {
    return this.log.length;
  }

  /** What happened so far, one line a step. */
  lines(): readonly string[] {
    return this.log.map((step) => lineOf(step));
  }

  /** Takes note of a fact. */
  note(fact: Fact): void {
    this.footprint.facts = true;
    this.noted.push(Object.freeze(fact));
  }

  /** Takes one from a budget. */
  spend(budget: keyof Budget): void {
    this.budget[budget]--;
    this.met[budget] = (this.met[budget] ?? 0) + 1;
    this.footprint.budget = budget;
  }

  /** What was committed may differ from the last snapshot. */
  tablesMayDiffer(): void {
    this.tablesAreStale = true;
  }

  /** Takes note of what is committed now. */
  see(snapshot: Snapshot): void {
    this.snapshot = snapshot;
    this.tablesKey = this.interner.id(asText(snapshot));
  }
}
