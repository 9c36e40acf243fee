import { diceOf } from './dice.js';

/** What is done to the system while it works. */
export const FAULTS = Object.freeze({
  kill: 'workers killed',
  stop: 'workers stopped past the TTL',
  restart: 'restarts of the server',
  release: 'leases released by an operator',
  plant: 'impossible jobs left by others',
});

export type FaultKind = keyof typeof FAULTS;

/** One fault, at its time. */
export interface Fault {
  readonly atMs: number;
  readonly kind: FaultKind;
  /** Whom it meets: a worker, or a task, as a whole number that is taken modulo how many there are. */
  readonly victim: number;
  /** Rather who holds a lease at that time than a worker by number. */
  readonly aimed: boolean;
  /** How long a stop lasts; a restart that is asked for by order (even) or made by a crash (odd). */
  readonly lastsMs: number;
}

/** What a plan is made for. */
export interface PlanOptions {
  readonly seed: number;
  readonly forMs: number;
  readonly ttlMs: number;
  /** False for a database without a server. */
  readonly restarts: boolean;
}

const WEIGHTS: readonly (readonly [FaultKind, number])[] = [
  ['kill', 6],
  ['stop', 5],
  ['release', 7],
  ['plant', 2],
  ['restart', 1],
];

/** The faults of a run, each kind met early, then at random: the same seed, the same plan. */
export function planOf({ seed, forMs, ttlMs, restarts }: PlanOptions): Fault[] {
  const dice = diceOf(seed);
  const possible = WEIGHTS.filter(([kind]) => restarts || kind !== 'restart');
  const bag = possible.flatMap(([kind, weight]) => new Array<FaultKind>(weight).fill(kind));
  const first = possible.map(([kind]) => kind);
  const plan: Fault[] = [];
  for (let atMs = 300; atMs < forMs; atMs += dice.between(250, 1_000)) {
    const kind = first.splice(dice.below(first.length), 1)[0] ?? bag[dice.below(bag.length)] ?? 'kill';
    plan.push({
      atMs,
      kind,
      victim: dice.below(1_000),
      aimed: dice.chance(0.75),
      lastsMs: Math.floor(ttlMs * (1.2 + dice.roll())),
    });
  }
  return plan;
}
