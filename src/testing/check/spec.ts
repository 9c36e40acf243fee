/** A protocol as a pure transition system. */
export interface Spec<S> {
  /** The states in which it may begin. */
  init(): readonly S[];
  /** Everything that may happen in a state, and the state after it. */
  next(state: S): Iterable<readonly [label: string, next: S]>;
  /** What must be true of every state that can be reached, by name. */
  readonly invariants: Readonly<Record<string, (state: S) => boolean>>;
  /** A state that must stay within reach from every state that can be reached. */
  goal?(state: S): boolean;
  /** A text that is equal for equal states. Default: JSON. */
  key?(state: S): string;
}

/** What `checkSpec` found. */
export interface SpecReport {
  /** Different states that were reached. */
  readonly states: number;
  /** The longest of the shortest ways to a state. */
  readonly depth: number;
  /** The invariant that does not hold. */
  readonly violated?: string;
  /** True if the goal is out of reach from some state. */
  readonly stuck?: boolean;
  /** A shortest way to the state at fault: what happened, in order. */
  readonly trace?: readonly string[];
}

/**
 * Visits every state of a specification, nearest first, so that a counterexample is a shortest one.
 *
 * @param spec - The transition system.
 * @param maxStates - Gives up with a `RangeError` beyond this many. Default: 5,000,000.
 */
export function checkSpec<S>(spec: Spec<S>, maxStates = 5_000_000): SpecReport {
  const visited = new Visited(spec);
  for (const state of spec.init()) visited.add(state, -1, 'init');
  for (let at = 0; at < visited.states.length; at++) {
    const state = visited.states[at] as S;
    const violated = Object.entries(spec.invariants).find(([, holds]) => !holds(state))?.[0];
    if (violated !== undefined) return { ...visited.size(at), violated, trace: visited.wayTo(at) };
    for (const [label, next] of spec.next(state)) visited.add(next, at, label);
    if (visited.states.length > maxStates) throw new RangeError(`more than ${maxStates} states`);
  }
  const last = visited.states.length - 1;
  const stuck = spec.goal === undefined ? undefined : visited.farFrom(spec.goal.bind(spec));
  if (stuck === undefined) return visited.size(last);
  return { ...visited.size(last), stuck: true, trace: visited.wayTo(stuck) };
}

class Visited<S> {
  readonly states: S[] = [];
  private readonly places = new Map<string, number>();
  private readonly from: number[] = [];
  private readonly by: string[] = [];
  private readonly depths: number[] = [];
  private readonly before: number[][] = [];
  private readonly spec: Spec<S>;

  constructor(spec: Spec<S>) {
    this.spec = spec;
  }

  add(state: S, from: number, label: string): void {
    const key = this.spec.key?.(state) ?? JSON.stringify(state);
    const known = this.places.get(key);
    const place = known ?? this.states.push(state) - 1;
    if (known === undefined) {
      this.places.set(key, place);
      this.from.push(from);
      this.by.push(label);
      this.depths.push(from < 0 ? 0 : (this.depths[from] ?? 0) + 1);
      this.before.push([]);
    }
    if (from >= 0) this.before[place]?.push(from);
  }

  size(at: number): Pick<SpecReport, 'states' | 'depth'> {
    return { states: this.states.length, depth: this.depths[at] ?? 0 };
  }

  wayTo(place: number): string[] {
    const way: string[] = [];
    for (let at = place; at >= 0; at = this.from[at] ?? -1) way.push(this.by[at] ?? '');
    return way.reverse();
  }

  /** The first state from which no state of the goal can be reached: walks back from the goal. */
  farFrom(goal: (state: S) => boolean): number | undefined {
    const near = new Set(this.states.keys());
    for (const [place, state] of this.states.entries()) if (!goal(state)) near.delete(place);
    const edge = [...near];
    for (let at = edge.pop(); at !== undefined; at = edge.pop()) {
      for (const before of this.before[at] ?? []) {
        if (near.has(before)) continue;
        near.add(before);
        edge.push(before);
      }
    }
    const far = [...this.states.keys()].find((place) => !near.has(place));
    return far;
  }
}
