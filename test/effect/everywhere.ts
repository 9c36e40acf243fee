import { sql } from 'kysely';
import {
  acquireLease,
  assessTransition,
  ensureSchema,
  NotApplied,
  releaseLease,
  resolveEffect,
  runEffect,
  snapshot,
} from 'transition-ownership';
import { expect } from 'vitest';
import { failure, ok, type Proofs } from '../job/proofs.js';
import type { Worker, Yard } from '../job/yard.js';
import { journalled } from '../recovery/ruins.js';
import { Outside } from './outside.js';

export const START = /^insert (?:ignore )?into .transition_effect.*'started'/s;
const FINISH = /^update .transition_effect. set .state. = 'applied'/s;
const TAKE_OVER = /^update .transition_effect. set .claim./s;

/** The rows of the journal. */
async function journal(yard: Yard): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<Record<string, unknown>>`select * from transition_effect order by task_id, effect`.execute(
    yard.outside,
  );
  // Drivers differ in how they spell a 64-bit integer, and bytes.
  const plain = (name: string, value: unknown): unknown => {
    if (value === null) return null;
    if (['task_id', 'fencing_token', 'started_ms', 'applied_ms'].includes(name)) return Number(value);
    return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
  };
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(name, value)])));
}

/** An ownership with a journal, and a lease of it. */
export async function begin(worker: Worker, taskId = 1) {
  const own = journalled(worker);
  await ok(ensureSchema(own));
  const lease = await ok(acquireLease(own, { taskId, actor: 'finalizer' }));
  return { own, lease, outside: new Outside() };
}

const hangUp = () => Promise.reject(new Error('hang up'));

/** An effect that was broken off, its task in the hands of another process. */
async function brokenOff(yard: Yard) {
  const first = await begin(yard.start('first'));
  await failure(runEffect(first.own, first.lease, first.outside.merging({ apply: hangUp })));
  await ok(releaseLease(first.own, first.lease));
  await yard.freeze(5_000);
  const heir = yard.start('heir');
  return { heir, first, ...(await begin(heir)) };
}

/** What effects promise on every database alike. */
export const everywhere: Proofs = {
  'runEffect applies once, keeps the result, and answers it to every later process': async (yard) => {
    const a = await begin(yard.start('a'));
    expect(await ok(runEffect(a.own, a.lease, a.outside.merging()))).toEqual({
      status: 'applied',
      value: { sha: 'merged-1' },
    });
    expect(await journal(yard)).toMatchObject([
      {
        task_id: 1,
        effect: 'merge_pr',
        key: 'c0ffee',
        fencing_token: a.lease.fencingToken,
        owner: 'finalizer',
        state: 'applied',
        result: '{"sha":"merged-1"}',
        started_ms: yard.nowMs,
        applied_ms: yard.nowMs,
      },
    ]);
    await ok(releaseLease(a.own, a.lease));
    const b = await begin(yard.start('b'));
    expect(await ok(runEffect(b.own, b.lease, a.outside.merging()))).toEqual({
      status: 'already-applied',
      value: { sha: 'merged-1' },
    });
    expect(a.outside.applied).toHaveLength(1);
  },

  'runEffect keeps a long result of any letters exactly': async (yard) => {
    const { own, lease } = await begin(yard.start('a'));
    const result = ['漢字 👩‍🚀 \u0000 \ud800 "\\', 'é'.repeat(100_000)];
    const merging = { effect: 'merge_pr', key: 'c0ffee', apply: () => result };
    await ok(runEffect(own, lease, merging));
    expect(await ok(runEffect(own, lease, merging))).toEqual({ status: 'already-applied', value: result });
  },

  'runEffect tells effects apart byte by byte': async (yard) => {
    const { own, lease, outside } = await begin(yard.start('a'));
    const names = ['x', 'X', 'x ', ' x', 'é', 'e\u0301', 'ß', 'ss'];
    for (const name of names) await ok(runEffect(own, lease, outside.merging({ key: name })));
    for (const name of names) await ok(runEffect(own, lease, outside.merging({ effect: name })));
    expect(outside.applied).toHaveLength(16);
    const longest = { effect: '漢'.repeat(85), key: 'k'.repeat(255) };
    expect(await ok(runEffect(own, lease, outside.merging(longest)))).toMatchObject({ status: 'applied' });
    expect(await ok(runEffect(own, lease, outside.merging(longest)))).toMatchObject({ status: 'already-applied' });
  },

  'runEffect of many calls at once applies each effect once': async (yard) => {
    const { own, lease, outside } = await begin(yard.start('a'));
    const calls = ['v1', 'v2', 'v3'].flatMap((key) =>
      [1, 2, 3, 4].map(() => ok(runEffect(own, lease, outside.merging({ key })))),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 'applied')).toHaveLength(3);
    expect(outside.applied).toHaveLength(3);
  },

  'an effect that was started is marked, taken over or held, by its probe': async (yard) => {
    const { own, lease, outside } = await brokenOff(yard);
    expect(await failure(runEffect(own, lease, outside.merging()))).toMatchObject({
      type: 'effect-unknown',
      since: yard.nowMs - 5_000,
    });
    expect(await failure(runEffect(own, lease, outside.merging({ probe: () => 'unknown' })))).toMatchObject({
      type: 'effect-unknown',
    });
    expect(outside.applied).toEqual([]);
    expect(await ok(runEffect(own, lease, outside.merging({ probe: outside.look })))).toMatchObject({
      status: 'applied',
    });
    expect(await journal(yard)).toMatchObject([{ state: 'applied', fencing_token: lease.fencingToken }]);
    await failure(runEffect(own, lease, outside.merging({ key: 'other', apply: hangUp })));
    expect(await ok(runEffect(own, lease, outside.merging({ key: 'other', probe: () => 'applied' })))).toEqual({
      status: 'already-applied',
      value: null,
    });
    expect(outside.applied).toHaveLength(1);
  },

  'an effect that certainly did nothing is struck, and may be tried again': async (yard) => {
    const { own, lease, outside } = await begin(yard.start('a'));
    const apply = () => Promise.reject(new NotApplied('refused'));
    expect(await failure(runEffect(own, lease, outside.merging({ apply })))).toMatchObject({ type: 'effect-failed' });
    expect(await journal(yard)).toEqual([]);
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'applied' });
  },

  'a lost reply of a start, a take-over or a result is settled by its claim': async (yard) => {
    const { heir, own, lease, outside } = await brokenOff(yard);
    for (const about of [START, TAKE_OVER, FINISH]) heir.wire.fault(about, 'reply-lost', 1);
    expect(await ok(runEffect(own, lease, outside.merging({ probe: outside.look })))).toMatchObject({
      status: 'applied',
    });
    expect(await ok(runEffect(own, lease, outside.merging({ key: 'other' })))).toMatchObject({ status: 'applied' });
    expect(outside.applied).toHaveLength(2);
    expect(await journal(yard)).toMatchObject([{ state: 'applied' }, { state: 'applied' }]);
  },

  'the start and the take-over are fenced by the lease and by the time that it has left': async (yard) => {
    const { heir, own, lease, outside } = await brokenOff(yard);
    const probe = outside.look;
    for (const [about, key] of [
      [START, 'other'],
      [TAKE_OVER, 'c0ffee'],
    ] as const) {
      heir.wire.meanwhile(about, async (run) => {
        await sql`update transition_lease set expires_ms = expires_ms - 25000`.execute(yard.outside);
        await run();
      });
      expect(await failure(runEffect(own, lease, outside.merging({ key, probe })))).toMatchObject({
        type: 'not-enough-time',
      });
    }
    heir.wire.meanwhile(START, async (run) => {
      await sql`delete from transition_lease`.execute(yard.outside);
      await run();
    });
    expect(await failure(runEffect(own, lease, outside.merging({ key: 'other', probe })))).toMatchObject({
      type: 'lease-lost',
    });
    expect(outside.applied).toEqual([]);
    expect(await journal(yard)).toMatchObject([{ key: 'c0ffee', state: 'started' }]);
  },

  'an operator and an heir at once: one word stands, and the effect is applied once at most': async (yard) => {
    const { own, lease, outside } = await brokenOff(yard);
    const desk = journalled(yard.start('operator'));
    const word = { taskId: 1, effect: 'merge_pr', key: 'c0ffee', by: 'ada', reason: 'looked' } as const;
    const [resolved, ran] = await Promise.all([
      ok(resolveEffect(desk, { ...word, outcome: 'applied' })),
      ok(runEffect(own, lease, outside.merging({ probe: () => 'not-applied' }))),
    ]);
    expect(await journal(yard)).toMatchObject([{ state: 'applied' }]);
    expect(outside.applied).toHaveLength(ran.status === 'applied' ? 1 : 0);
    expect(['resolved', 'already-applied', 'under-way']).toContain(resolved);
  },

  'assessTransition, resolveEffect and snapshot see the same journal': async (yard) => {
    const { own, lease } = await brokenOff(yard);
    await ok(runEffect(own, lease, { effect: 'ratchet', key: 'v1', apply: () => 7 }));
    expect(await ok(assessTransition(own, 1))).toMatchObject({
      decision: 'hold',
      effects: [
        { effect: 'merge_pr', decision: 'hold' },
        { effect: 'ratchet', decision: 'converge', result: 7 },
      ],
    });
    expect(await ok(snapshot(own))).toMatchObject({ unfinishedEffects: 1 });
    const word = { taskId: 1, effect: 'merge_pr', key: 'c0ffee', by: 'ada', reason: 'looked' } as const;
    expect(await ok(resolveEffect(own, { ...word, outcome: 'applied', result: { seen: true } }))).toBe('resolved');
    expect(await ok(resolveEffect(own, { ...word, outcome: 'not-applied' }))).toBe('already-applied');
    expect(await ok(assessTransition(own, 1))).toMatchObject({ decision: 'converge' });
    expect(await ok(snapshot(own))).toMatchObject({ unfinishedEffects: 0 });
  },
};
