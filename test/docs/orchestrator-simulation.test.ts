import { createTransitionOwnership, ensureSchema, type Mode } from 'transition-ownership';
import {
  assertHolds,
  eventuallyFree,
  exactlyOneStageWriter,
  explore,
  type Faults,
  fuzz,
  invariant,
  noLeaseOutlivesItsBound,
  noQueuedRunOwnership,
  type Process,
  type Scenario,
  sqliteFileStore,
  tokensOnlyGrow,
} from 'transition-ownership/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { createTables, type Database } from '../../examples/orchestrator/database.js';
import { advance } from '../../examples/orchestrator/engine.js';
import { tables } from '../../examples/orchestrator/orchestrator.js';
import type { Step } from '../../examples/orchestrator/outside.js';
import { recover } from '../../examples/orchestrator/recovery.js';

const store = sqliteFileStore<Database>({
  migrate: async (db) => {
    await createTables(db);
    (await ensureSchema(createTransitionOwnership({ db, ...tables })))._unsafeUnwrap();
  },
});
afterAll(() => store.close());

/** The outside world in memory: it remembers every step that it took. */
class MemoryOutside {
  readonly steps: string[] = [];
  readonly #idempotent: boolean;

  constructor(idempotent: boolean) {
    this.#idempotent = idempotent;
  }

  async apply({ effect, key }: Step): Promise<void> {
    const step = `${effect} ${key}`;
    if (!this.#idempotent || !this.steps.includes(step)) this.steps.push(step);
  }

  async has({ effect, key }: Step): Promise<boolean> {
    return this.steps.includes(`${effect} ${key}`);
  }
}

interface Day {
  readonly actors: readonly string[];
  readonly faults: Faults;
  readonly mode?: Mode;
  /** Whether the outside world takes a step that it is asked for twice only once. */
  readonly idempotent?: boolean;
}

/** The actors of the example, all after the same move, each in a process of its own. */
function scenarioOf({ actors, faults, mode = 'on', idempotent = false }: Day): Scenario<Database> {
  let outside = new MemoryOutside(idempotent);
  const act = async (process: Process<Database>) => {
    const lease = { ttlMs: 3_000, renewEveryMs: 1_000, maxHoldMs: 60_000 };
    const ownership = process.createOwnership({ ...tables, lease, mode });
    const orchestrator = { db: process.db, ownership, outside: process.port('outside', outside) };
    await recover(orchestrator);
    const moved = await advance(orchestrator, { taskId: 1, actor: process.name });
    return moved.isOk() ? moved.value.type : moved.error.type;
  };
  return {
    processes: Object.fromEntries(actors.map((actor) => [actor, act])),
    faults,
    setup: async ({ store: { admin } }) => {
      outside = new MemoryOutside(idempotent);
      await admin.insertInto('tasks').values({ id: 1, repo: 'web', sha: 'c0ffee', stage: 'deploy-staging' }).execute();
    },
    outside: () => outside.steps,
    invariant: [
      exactlyOneStageWriter<Database>(),
      noLeaseOutlivesItsBound<Database>(),
      tokensOnlyGrow<Database>(),
      noQueuedRunOwnership<Database>(),
      eventuallyFree<Database>(),
      invariant<Database>(
        'no step is taken twice',
        () => new Set(outside.steps).size === outside.steps.length || outside.steps.join(', '),
      ),
      invariant<Database>(
        'the task goes on',
        (world) => world.rows('tasks').every(({ stage }) => stage !== 'deploy-staging') || 'it is stuck',
        { when: 'healed' },
      ),
    ],
  };
}

const two = ['monitor', 'webhook'];

describe('the actors of the orchestrator', () => {
  test.each<[string, Day]>([
    ['two of them want the same move', { actors: two, faults: {} }],
    ['one is killed at any point and started again', { actors: ['monitor'], faults: { crashes: 1, restarts: 1 } }],
    ['any answer is lost', { actors: ['monitor'], faults: { lostReplies: 1 } }],
    ['any statement or step fails', { actors: ['monitor'], faults: { failures: 1 } }],
  ])('keep the promises when %s, in every order', { timeout: 120_000 }, async (_, day) => {
    assertHolds(await explore(store, scenarioOf(day)));
  });

  test.each<[string, Day]>([
    ['one is killed and started again', { actors: two, faults: { crashes: 1, restarts: 1 } }],
    ['one stands still past its lease', { actors: two, faults: { clockJumps: 1 }, idempotent: true }],
  ])('keep the promises when of two %s, in orders drawn at random', { timeout: 120_000 }, async (_, day) => {
    assertHolds(await fuzz(store, scenarioOf(day), { runs: 150, seed: 2, strategy: 'pct' }), { complete: false });
  });

  test('break them in some order without the guard', { timeout: 120_000 }, async () => {
    const { failure } = await explore(store, scenarioOf({ actors: two, faults: {}, mode: 'off' }));
    expect(failure?.message).toContain('no step is taken twice');
  });

  // What no lease can prevent: a step that was asked for in time and arrives when another has asked again.
  test('need an outside world that takes a step only once when one stands still', { timeout: 120_000 }, async () => {
    const { failure } = await fuzz(store, scenarioOf({ actors: two, faults: { clockJumps: 1 } }), {
      seed: 2,
      strategy: 'pct',
      runs: 2000,
    });
    expect(failure?.message).toContain('no step is taken twice');
  });
});
