import type { TestStore } from '../store/store.js';
import type { Choice } from '../world/choice.js';
import { commute, type Footprint } from '../world/footprint.js';
import { Interner } from '../world/interner.js';
import { LifeMemory } from '../world/life-memory.js';
import type { Spoken } from '../world/run-options.js';
import type { Scenario } from '../world/scenario.js';
import { type Ending, Simulation } from '../world/simulation.js';
import type { LookedAt } from '../world/state.js';
import { type Asleep, exceeds, isWorthTrying, moveOn, type Node, nodeOf, preempts } from './node.js';
import type { Bounds } from './report.js';
import { RunsDiffer } from './rerun.js';

/**
 * Walks the tree of all schedules depth first, by running the scenario anew for each.
 *
 * Two reductions, each exact: *state caching* leaves a schedule at a state that was explored before (a process is a
 * function of what it has seen, so equal states have equal futures), and *sleep sets* try only one order of two steps
 * that commute. Together, as Godefroid describes: what slept at the first visit and is awake at the second is still
 * to do. Sleep sets visit every state, so rules checked after each step miss none.
 */
export class Exploration<DB> {
  readonly path: Node[] = [];
  readonly interner = new Interner();
  /** For each state, the choices that slept on every visit so far. */
  readonly states = new Map<string, ReadonlySet<string>>();
  /** Some choice was one preemption too many. */
  bounded = false;
  private readonly lives = new LifeMemory();
  private readonly store: TestStore<DB>;
  private readonly scenario: Scenario<DB>;
  private readonly bounds: Bounds;
  private readonly looked: LookedAt;
  /** What came of the rules. */
  readonly spoken: Spoken;
  private readonly caches: boolean;
  /** Steps that commute are tried in one order. Together with a bound on preemptions that proves nothing. */
  readonly sleeps: boolean;

  constructor(
    store: TestStore<DB>,
    scenario: Scenario<DB>,
    bounds: Bounds,
    { spoken }: { readonly spoken: Spoken },
    looked: LookedAt = nothing,
  ) {
    this.store = store;
    this.scenario = scenario;
    this.bounds = bounds;
    this.looked = looked;
    this.spoken = spoken;
    const reduce = bounds.reduce ?? (bounds.preemptions === undefined ? 'both' : 'cache');
    this.caches = (reduce === 'cache' || reduce === 'both') && !looked.history;
    this.sleeps = (reduce === 'sleep' || reduce === 'both') && !looked.history && !looked.transition;
  }

  /** A world for one more schedule. */
  world(): Simulation<DB> {
    const { maxSteps = 400 } = this.bounds;
    const { interner, lives, spoken } = this;
    return new Simulation(this.store, this.scenario, { interner, lives, spoken, maxSteps });
  }

  /** Whether a rule looked at what the reductions in use leave out: then all begins anew, without them. */
  isMisled({ lookedAt }: Simulation<DB>['state']): boolean {
    return (lookedAt.transition && this.sleeps) || (lookedAt.history && (this.sleeps || this.caches));
  }

  /** The same search from its beginning, without what would miss what a rule has looked at. */
  anew({ lookedAt }: Simulation<DB>['state']): Exploration<DB> {
    const transition = this.looked.transition || lookedAt.transition;
    const history = this.looked.history || lookedAt.history;
    return new Exploration(this.store, this.scenario, this.bounds, this, { transition, history });
  }

  /** Runs one schedule: along the path as it stands, then on into what is new. */
  async run(world: Simulation<DB>): Promise<Ending> {
    let depth = 0;
    const noteStep = () => {
      const node = depth > 0 ? this.path[depth - 1] : undefined;
      node?.footprints.set(node.ids[node.at] ?? '', world.state.footprint);
    };
    const end = await world.run((choices) => {
      noteStep();
      const node = this.path[depth] ?? this.enter(world, choices);
      if (node === undefined) return -1;
      this.assertSame(node, world, choices);
      depth++;
      return node.at;
    });
    noteStep();
    return end;
  }

  /** Turns to the next schedule; false if there is none. */
  turn(): boolean {
    for (let node = this.path.at(-1); node !== undefined; node = this.path.at(-1)) {
      if (this.moveOn(node)) return true;
      this.path.pop();
    }
    return false;
  }

  private enter(world: Simulation<DB>, choices: readonly Choice[]): Node | undefined {
    const parent = this.path.at(-1);
    const arriving = this.sleeps && parent !== undefined ? this.asleepAfter(parent) : nothingSleeps;
    const preempted = (parent?.preempted ?? 0) + (parent !== undefined && preempts(parent, parent.at) ? 1 : 0);
    // With a bound, what is left to do also hangs on who could go on for free and on how many preemptions are left.
    const key = () => world.key() + (this.bounds.preemptions === undefined ? '' : `^${world.state.last}.${preempted}`);
    const visit = this.caches ? this.visit(key(), choices, arriving) : { asleep: arriving, only: undefined };
    if (visit.only?.size === 0) return undefined;
    const node = nodeOf(choices, { ...visit, last: world.state.last, preempted, seen: seenBy(world) });
    if (!this.moveOn(node)) return undefined;
    this.path.push(node);
    return node;
  }

  private moveOn(node: Node): boolean {
    const { preemptions } = this.bounds;
    this.bounded ||= preemptions !== undefined && exceeds(node, preemptions);
    return moveOn(node, preemptions);
  }

  /** What sleeps in a child: what slept in the parent or was tried there before, and commutes with the step taken. */
  private asleepAfter(parent: Node): Asleep {
    const taken = parent.footprints.get(parent.ids[parent.at] ?? '');
    if (taken === undefined) return nothingSleeps;
    const asleep = new Map<string, Footprint>();
    const keep = (id: string, touched: Footprint | undefined) => {
      if (touched !== undefined && commute(touched, taken, this.scenario.independent)) asleep.set(id, touched);
    };
    for (const [id, touched] of parent.asleep) if (id !== parent.ids[parent.at]) keep(id, touched);
    for (let at = 0; at < parent.at; at++) {
      const id = parent.ids[at] ?? '';
      if (isWorthTrying(parent, at, this.bounds.preemptions)) keep(id, parent.footprints.get(id));
    }
    return asleep;
  }

  /** A state that was met before leaves to do what slept on all earlier visits and is awake on this one. */
  private visit(key: string, choices: readonly Choice[], arriving: Asleep): Pick<Node, 'asleep' | 'only'> {
    const before = this.states.get(key);
    const here = choices.map((choice) => choice.id).filter((id) => arriving.has(id));
    if (before === undefined) {
      this.states.set(key, new Set(here));
      return { asleep: arriving, only: undefined };
    }
    const only = new Set([...before].filter((id) => !arriving.has(id)));
    this.states.set(key, new Set([...before].filter((id) => arriving.has(id))));
    return { asleep: new Map([...arriving].filter(([id]) => before.has(id))), only };
  }

  private assertSame(node: Node, world: Simulation<DB>, choices: readonly Choice[]): void {
    const same = node.ids.length === choices.length && choices.every((choice, at) => choice.id === node.ids[at]);
    if (!same || node.seen !== seenBy(world)) throw new RunsDiffer(world.state.lines());
  }
}

const nothing: LookedAt = Object.freeze({ transition: false, history: false });

const nothingSleeps: Asleep = new Map();

const seenBy = <DB>(world: Simulation<DB>) => world.state.processes.map((each) => each.seen).join();
