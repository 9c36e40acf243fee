import { CamelCasePlugin, sql } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  ownedBy,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  snapshot,
  updateStageCas,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';
import { hostile } from '../store.js';

const BIG = [2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n, 0n] as const;
const TEXTS = ['a', 'A', 'a ', ' a', 'á', 'a\u0301', "it's", 'a\\b', '"', '%', '日本🎉', '7', '7x', '007'] as const;

/** Ids of three types, and names that must be quoted. */
export function identifiers(site: Site): void {
  describe('ids', () => {
    test('that no number of JavaScript can hold stay apart', async () => {
      const { bigOwnership: ownership } = site.process();
      for (const id of BIG) {
        await sql`insert into big_tasks (id, stage) values (${sql.raw(String(id))}, 'deploy')`.execute(site.db);
      }
      const leases = [];
      for (const taskId of BIG) {
        const request = { taskId, actor: 'monitor', runId: `run ${taskId}` };
        leases.push((await acquireLease(ownership, request))._unsafeUnwrap());
      }
      expect((await inspectLease(ownership, BIG[1]))._unsafeUnwrap()).toMatchObject({
        holder: { taskId: BIG[1], claim: leases[1]?.claim, runId: `run ${BIG[1]}` },
      });
      const moved = await updateStageCas(ownership, {
        taskId: BIG[1],
        expected: 'deploy',
        next: 'done',
        ...(leases[1] && { lease: leases[1] }),
      });
      expect(moved.isOk()).toBe(true);
      const { rows } = await sql`select stage from big_tasks where stage = 'done'`.execute(site.db);
      expect(rows).toHaveLength(1);
      expect((await snapshot(ownership))._unsafeUnwrap().leases.map(({ taskId }) => taskId)).toEqual(BIG.map(String));
      expect((await releaseLeases(ownership, leases))._unsafeUnwrap()).toEqual(BIG.map(() => 'released'));
    });

    test('that no number can hold stay apart, many at once', async () => {
      const { bigOwnership: ownership } = site.process();
      for (const id of BIG) await sql`insert into big_tasks (id) values (${sql.raw(String(id))})`.execute(site.db);
      const requests = BIG.map((taskId) => ({ taskId, actor: 'monitor' }));
      const { acquired } = (await acquireLeases(ownership, requests))._unsafeUnwrap();
      expect(acquired.map(({ taskId }) => taskId)).toEqual(BIG);
      const { busy } = (await acquireLeases(site.process().bigOwnership, requests))._unsafeUnwrap();
      expect(busy.map(({ taskId }) => taskId)).toEqual(BIG);
      const seen = (await reclaimStaleLeases(ownership, { taskIds: [BIG[1], BIG[2]] }))._unsafeUnwrap();
      expect(seen.kept.map(({ taskId }) => taskId).sort()).toEqual([BIG[2], BIG[1]]);
    });

    test('of text compare byte by byte where their column does: case, accents, spaces and all', async () => {
      const { textOwnership: ownership } = site.process();
      const leases = [];
      for (const id of TEXTS) await sql`insert into text_tasks (id) values (${id})`.execute(site.db);
      for (const [at, taskId] of TEXTS.entries()) {
        leases.push((await acquireLease(ownership, { taskId, actor: 'monitor', runId: BigInt(at) }))._unsafeUnwrap());
      }
      for (const [at, taskId] of TEXTS.entries()) {
        const seen = (await inspectLease(ownership, taskId))._unsafeUnwrap();
        expect(seen).toMatchObject({ holder: { taskId, claim: leases[at]?.claim, runId: BigInt(at) } });
      }
      const other = site.process();
      const requests = TEXTS.map((taskId) => ({ taskId, actor: 'reaper' }));
      const { busy } = (await acquireLeases(other.textOwnership, requests))._unsafeUnwrap();
      expect(busy.map(({ taskId }) => taskId)).toEqual(TEXTS);
      expect((await releaseLeases(ownership, leases))._unsafeUnwrap()).toEqual(TEXTS.map(() => 'released'));
      const { acquired } = (await acquireLeases(other.textOwnership, requests))._unsafeUnwrap();
      expect(acquired.map(({ taskId }) => taskId)).toEqual(TEXTS);
    });

    test('of text find a task by its exact spelling where their column compares so', async () => {
      const { textOwnership: ownership } = site.process();
      for (const id of ['a', 'ü']) {
        await site.db
          .insertInto('text_tasks')
          .values({ id, stage: 'deploy', note: null, moved_ms: null, updated_at: null })
          .execute();
      }
      for (const taskId of ['A', 'a ', 'u', 'Ü', 'u\u0308']) {
        const lost = await updateStageCas(ownership, { taskId, expected: 'deploy', next: 'done' });
        expect(lost._unsafeUnwrapErr()).toMatchObject({ type: 'task-not-found' });
      }
      for (const taskId of ['a', 'ü']) {
        const lease = (await acquireLease(ownership, { taskId, actor: 'monitor' }))._unsafeUnwrap();
        const request = { taskId, expected: 'deploy', next: 'done', lease, release: true };
        expect((await updateStageCas(ownership, request)).isOk()).toBe(true);
      }
    });
  });

  describe('names', () => {
    test('of every kind are quoted', async () => {
      const { hostileOwnership: ownership, db } = site.process();
      await sql`insert into ${sql.id(hostile.table)} (${sql.id(hostile.id)}, ${sql.id(hostile.stage)}) values (1, 'deploy')`.execute(
        db,
      );
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor', stage: 'deploy' }))._unsafeUnwrap();
      const set = { [hostile.updatedAt]: null };
      const moved = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease, set });
      expect(moved.isOk()).toBe(true);
      const back = await updateStageCas(ownership, { taskId: 1, expected: 'done', next: 'deploy', lease });
      expect(back.isOk()).toBe(true);
      await sql`update ${sql.id(hostile.table)} set ${sql.id(hostile.stage)} = 'fenced' where ${ownedBy(ownership, lease)}`.execute(
        db,
      );
      expect((await snapshot(ownership))._unsafeUnwrap().leases).toMatchObject([{ taskId: 1 }]);
      expect((await reclaimStaleLeases(ownership))._unsafeUnwrap().kept).toHaveLength(1);
      expect((await releaseLease(ownership, lease))._unsafeUnwrap()).toBe('released');
      const { rows } = await sql`select ${sql.id(hostile.stage)} as stage from ${sql.id(hostile.table)}`.execute(
        site.db,
      );
      expect(rows).toEqual([{ stage: 'fenced' }]);
    });

    test('are the library’s own, whatever a plugin of the caller makes of theirs', async () => {
      const { db } = site.process();
      await site.addTask(1, 'deploy');
      const tasks = { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' } as const;
      const ownership = createTransitionOwnership({ db: db.withPlugin(new CamelCasePlugin()), tasks });
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      expect((await snapshot(ownership))._unsafeUnwrap().leases).toMatchObject([{ fencingToken: lease.fencingToken }]);
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
      expect((await updateStageCas(ownership, request)).isOk()).toBe(true);
    });

    test('of lease tables keep their leases apart', async () => {
      const first = site.process({ lease: { table: 'a_lease' } });
      const second = site.process({ lease: { table: 'b_lease' } });
      const [one, two] = await Promise.all([ensureSchema(first.ownership), ensureSchema(second.ownership)]);
      expect([one._unsafeUnwrap(), two._unsafeUnwrap()]).toEqual(['created', 'created']);
      expect((await acquireLease(first.ownership, { taskId: 1, actor: 'monitor' })).isOk()).toBe(true);
      expect((await acquireLease(second.ownership, { taskId: 1, actor: 'monitor' })).isOk()).toBe(true);
    });

    const { schema } = site.store;
    if (schema === undefined) return;
    test('of schemas keep their leases apart', async () => {
      const here = site.process();
      const there = site.process({ lease: { schema } });
      expect((await ensureSchema(there.ownership))._unsafeUnwrap()).toBe('created');
      expect((await ensureSchema(there.ownership))._unsafeUnwrap()).toBe('unchanged');
      await site.addTask(1, 'deploy');
      (await acquireLease(here.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const lease = (await acquireLease(there.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const request = { taskId: 1, expected: 'deploy', next: 'done', lease, release: true };
      expect((await updateStageCas(there.ownership, request))._unsafeUnwrap()).toMatchObject({ released: true });
      const { acquired } = (await acquireLeases(there.ownership, [{ taskId: 1, actor: 'reaper' }]))._unsafeUnwrap();
      expect(acquired).toHaveLength(1);
      expect(await site.leases()).toHaveLength(1);
    });
  });
}
