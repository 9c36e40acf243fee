import type { Spec } from '../../src/testing/check/spec.js';

/**
 * The protocol as a pure transition system: several processes, one task, one row.
 *
 * Each label is one statement, one reply, one crash or one tick of the clock; between any two of them anything else may
 * happen, so that a pause is a process to which nothing happens. Times are what is left of them: the clock has no end.
 */
export interface Bounds {
  readonly processes: number;
  /** Stages that the task goes through. */
  readonly stages: number;
  readonly crashes: number;
  /** Releases that do not reach the database. */
  readonly failedReleases: number;
  /** Leases that an operator takes from their owner. */
  readonly operatorReleases: number;
  /** True if the processes share a host, so that a dead pid is evidence. */
  readonly oneHost: boolean;
}

/** One guard of the protocol, taken away. */
export type Mutation =
  | 'none'
  | 'stage write without the fence'
  | 'release by task'
  | 'reclaim without the claim'
  | 'reclaim without the expiry'
  | 'renewal by task'
  | 'trust from the reply'
  | 'pid keeps alive'
  | 'expiry is ignored';

const TTL = 4;
const MARGIN = 1;
const MAX_HOLD = 6;

interface Row {
  readonly token: number;
  readonly by: number;
  readonly incarnation: number;
  readonly expires: number;
  readonly deadline: number;
}

type At = 'idle' | 'asked' | 'conflict' | 'judged' | 'held' | 'wrote' | 'down';

interface Actor {
  readonly at: At;
  readonly incarnation: number;
  /** The token of the acquisition in hand, which stands for its claim; 0 for none. */
  readonly token: number;
  /** What is left of the trust in it, and of its hold. */
  readonly trust: number;
  readonly hold: number;
  /** The stage that was read when the lease was taken. */
  readonly expected: number;
  readonly seen: Pick<Row, 'token' | 'expires'> | null;
  /** A renewal that was sent and has not landed, with what is left of the trust that its answer will give. */
  readonly renewal: { readonly token: number; readonly trust: number } | null;
}

/** Everything there is. */
export interface World {
  readonly row: Row | null;
  readonly stage: number;
  readonly tokens: number;
  readonly lastWriter: number;
  readonly strayWrite: boolean;
  readonly tokenWentBack: boolean;
  readonly actors: readonly Actor[];
  readonly left: Pick<Bounds, 'crashes' | 'failedReleases' | 'operatorReleases'>;
}

const IDLE = { at: 'idle', token: 0, trust: 0, hold: 0, expected: 0, seen: null, renewal: null } as const;

/** A holder that trusts itself: it may be about to start what cannot be taken back. */
export const isUndisputed = ({ at, trust, hold }: Actor): boolean => at === 'held' && trust > 0 && hold > 0;

/** The protocol, or what is left of it without one of its guards. */
export function protocol(bounds: Bounds, mutation: Mutation = 'none'): Spec<World> {
  const without = (guard: Mutation): boolean => mutation === guard;
  return {
    init: () => [
      {
        row: null,
        stage: 0,
        tokens: 0,
        lastWriter: 0,
        strayWrite: false,
        tokenWentBack: false,
        actors: Array.from({ length: bounds.processes }, () => ({ ...IDLE, incarnation: 1 })),
        left: bounds,
      },
    ],
    *next(world) {
      yield ['tick', tick(world)];
      if (world.row !== null && world.left.operatorReleases > 0) {
        yield ['operator releases', { ...spend(world, 'operatorReleases'), row: null }];
      }
      for (const [index, actor] of world.actors.entries()) {
        for (const [label, next] of steps(world, actor, index, bounds, without))
          yield [`${String(index)} ${label}`, next];
      }
    },
    invariants: {
      'the stage is written by the owner of the row alone': ({ strayWrite }) => !strayWrite,
      'the tokens of writers only grow': ({ tokenWentBack }) => !tokenWentBack,
      ...(bounds.operatorReleases === 0 && {
        'at most one owner is undisputed': ({ actors }) => actors.filter(isUndisputed).length <= 1,
      }),
    },
    goal: ({ stage }) => stage === bounds.stages,
    key: keyOf,
  };
}

function* steps(
  world: World,
  actor: Actor,
  index: number,
  { stages, oneHost }: Bounds,
  without: (guard: Mutation) => boolean,
): Iterable<readonly [string, World]> {
  const { row, stage } = world;
  const become = (change: Partial<Actor>, base = world): World => ({
    ...base,
    actors: base.actors.map((other, at) => (at === index ? { ...other, ...change } : other)),
  });
  const ours = row !== null && row.token === actor.token;

  if (actor.at === 'down') {
    yield ['restarts', become({ ...IDLE, incarnation: actor.incarnation + 1 })];
    return;
  }
  if (world.left.crashes > 0) yield ['crashes', become({ ...IDLE, at: 'down' }, spend(world, 'crashes'))];

  if (actor.at === 'idle' && stage < stages) {
    if (row !== null) yield ['inserts: conflict', become({ at: 'conflict' })];
    else {
      const token = world.tokens + 1;
      const inserted = { token, by: index, incarnation: actor.incarnation, expires: TTL, deadline: MAX_HOLD };
      const asked = { at: 'asked', token, trust: TTL - MARGIN, hold: MAX_HOLD, expected: stage } as const;
      yield ['inserts: granted', become(asked, { ...world, row: inserted, tokens: token })];
    }
  }
  if (actor.at === 'asked') {
    const anchored = without('trust from the reply') ? { trust: TTL - MARGIN, hold: MAX_HOLD } : {};
    yield ['hears that it was granted', become({ at: 'held', ...anchored })];
  }
  if (actor.at === 'conflict') {
    if (row === null || !isDead(world, row, actor, index, oneHost, without))
      yield ['reads: free or busy', become(IDLE)];
    else yield ['reads: dead', become({ at: 'judged', seen: { token: row.token, expires: row.expires } })];
  }
  if (actor.at === 'judged' && actor.seen !== null) {
    const same = row !== null && (without('reclaim without the claim') || row.token === actor.seen.token);
    const unchanged = row !== null && (without('reclaim without the expiry') || row.expires === actor.seen.expires);
    yield ['reclaims', become(IDLE, same && unchanged ? { ...world, row: null } : world)];
  }
  if (actor.at === 'held') {
    if (actor.trust === 0 || actor.hold === 0)
      yield ['learns of it', become({ at: 'wrote' })]; // it only cleans up
    else if (actor.renewal === null) {
      yield ['sends a renewal', become({ renewal: { token: actor.token, trust: TTL - MARGIN } })];
    }
    const writes = stage === actor.expected && (ours || without('stage write without the fence'));
    const written = {
      ...world,
      stage: stage + 1,
      lastWriter: actor.token,
      strayWrite: !ours,
      tokenWentBack: actor.token < world.lastWriter,
    };
    yield ['writes the stage', writes ? become({ at: 'wrote' }, written) : become({ at: 'wrote' })];
  }
  if (actor.renewal !== null) yield ['renewal lands', landed(world, actor, actor.renewal, index, become, without)];
  if (actor.at === 'wrote') {
    const gone = ours || without('release by task');
    yield ['releases', become(IDLE, gone ? { ...world, row: null } : world)];
    if (world.left.failedReleases > 0) yield ['releases in vain', become(IDLE, spend(world, 'failedReleases'))];
  }
}

/** A renewal is an UPDATE: where no row carries the claim it changes nothing, and its owner learns of it. */
function landed(
  world: World,
  actor: Actor,
  { token, trust }: { readonly token: number; readonly trust: number },
  index: number,
  become: (change: Partial<Actor>, base?: World) => World,
  without: (guard: Mutation) => boolean,
): World {
  const { row } = world;
  const answers = actor.at === 'held' && actor.token === token;
  if (row === null || (row.token !== token && !without('renewal by task'))) {
    return become(answers ? { at: 'wrote', trust: 0, renewal: null } : { renewal: null });
  }
  const { incarnation } = actor;
  const renewed = { ...row, token, by: index, incarnation, expires: Math.min(TTL, row.deadline) };
  return become(answers ? { trust, renewal: null } : { renewal: null }, { ...world, row: renewed });
}

/** The truth table of liveness, as far as this world has evidence. */
function isDead(
  world: World,
  row: Row,
  self: Actor,
  index: number,
  oneHost: boolean,
  without: (guard: Mutation) => boolean,
): boolean {
  const owner = world.actors[row.by];
  const pidExists = owner !== undefined && owner.at !== 'down';
  if (without('pid keeps alive') && pidExists) return false;
  if (!without('expiry is ignored') && (row.deadline === 0 || row.expires === 0)) return true;
  if (row.by === index && row.incarnation === self.incarnation) return true; // an orphan: this claim is not in hand
  return oneHost && (!pidExists || owner.incarnation !== row.incarnation);
}

function spend(world: World, budget: keyof World['left']): World {
  return { ...world, left: { ...world.left, [budget]: world.left[budget] - 1 } };
}

const less = (time: number): number => Math.max(0, time - 1);

function tick(world: World): World {
  const { row } = world;
  return {
    ...world,
    row: row && { ...row, expires: less(row.expires), deadline: less(row.deadline) },
    actors: world.actors.map((actor) => ({
      ...actor,
      trust: less(actor.trust),
      hold: less(actor.hold),
      seen: actor.seen && { ...actor.seen, expires: less(actor.seen.expires) },
      renewal: actor.renewal && { ...actor.renewal, trust: less(actor.renewal.trust) },
    })),
  };
}

/** Only the order of tokens matters: worlds that differ in nothing else are one. */
function keyOf({ row, stage, lastWriter, strayWrite, tokenWentBack, actors, left }: World): string {
  const used = [
    row?.token ?? 0,
    lastWriter,
    ...actors.flatMap(({ token, seen, renewal }) => [token, seen?.token ?? 0, renewal?.token ?? 0]),
  ];
  const ranks = [...new Set([0, ...used])].sort((a, b) => a - b);
  const rank = (token: number): number => ranks.indexOf(token);
  const facts = [
    stage,
    rank(lastWriter),
    strayWrite,
    tokenWentBack,
    left.crashes,
    left.failedReleases,
    left.operatorReleases,
  ];
  const held = row && [rank(row.token), row.by, row.incarnation, row.expires, row.deadline];
  const lives = actors.map(({ at, incarnation, token, trust, hold, expected, seen, renewal }) => [
    [at, incarnation, rank(token), trust, hold, expected],
    seen && [rank(seen.token), seen.expires],
    renewal && [rank(renewal.token), renewal.trust],
  ]);
  return [facts, held, ...lives.flat()].join('|');
}
