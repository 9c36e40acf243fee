import { sql } from 'kysely';
import { acquireLease, ensureSchema, inspectLease } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { LeaseRow, Site } from '../site.js';

/** The table of the leases: made once, and upgraded in place. */
export function schema(site: Site): void {
  const { store } = site;
  const { columns } = store;

  /** A lease table of the first shape, its instants in a column of some type. */
  const makeOld = async (table: string, instant: string): Promise<void> => {
    const { integer, text } = columns;
    await sql`create table ${sql.id(table)} (task_id ${sql.raw(integer)} not null primary key, owner ${sql.raw(text)} not null,
      owner_pid ${sql.raw(integer)}, owner_boot_id ${sql.raw(text)}, run_id ${sql.raw(integer)}, stage ${sql.raw(text)},
      acquired_at ${sql.raw(instant)})`.execute(site.db);
  };
  const addOld = (table: string, taskId: number, at: string | null) =>
    sql`insert into ${sql.id(table)} values (${taskId}, 'monitor', 41, 'boot', 7, 'deploy', ${at})`.execute(site.db);

  describe('ensureSchema', () => {
    test('makes the table once, whoever asks for it at the same time', async () => {
      const lease = { table: 'made_once' };
      const asked = Array.from({ length: 8 }, () => ensureSchema(site.process({ lease }).ownership));
      const answers = (await Promise.all(asked)).map((answer) => answer._unsafeUnwrap());
      expect(answers.filter((answer) => answer === 'created')).toHaveLength(1);
      expect((await ensureSchema(site.process({ lease }).ownership))._unsafeUnwrap()).toBe('unchanged');
    });

    test('refuses a transaction, in which some databases would commit what came before', async () => {
      const { db, ownership } = site.process();
      await db.transaction().execute(async (trx) => {
        expect(() => ensureSchema(ownership.using(trx))).toThrow(TypeError);
      });
    });

    test('brings the first shape up to date, keeps its rows and gives them a TTL', async () => {
      const table = 'first_shape_of_a_table_whose_name_is_as_long_as_a_name_may_b_63';
      await makeOld(table, columns.text);
      for (const taskId of [1, 2]) await addOld(table, taskId, '2026-01-02 03:04:05');
      const { ownership } = site.process({ lease: { table, ttlMs: 60_000 } });
      expect((await ensureSchema(ownership))._unsafeUnwrap()).toBe('upgraded');
      expect((await ensureSchema(ownership))._unsafeUnwrap()).toBe('unchanged');
      const rows = await site.leases(table);
      expect(rows).toMatchObject(
        ['1', '2'].map((task_id) => ({
          task_id,
          owner: 'monitor',
          owner_pid: 41,
          owner_boot_id: 'boot',
          owner_host: null,
          run_id: '7',
          stage: 'deploy',
          ttl_ms: 60_000,
          deadline_ms: null,
        })),
      );
      expect(new Set(rows.map(({ claim }) => claim)).size).toBe(2);
      const [first] = rows;
      const left = (first?.expires_ms ?? 0) - (first?.acquired_ms ?? 0);
      expect(Math.abs(left - 60_000)).toBeLessThan(1_000);
      expect((await inspectLease(ownership, 1))._unsafeUnwrap()).toMatchObject({
        state: 'held',
        verdict: 'live',
        reason: 'unexpired',
      });
      const lease = (await acquireLease(ownership, { taskId: 3, actor: 'monitor' }))._unsafeUnwrap();
      expect(lease.fencingToken).toBeGreaterThan(Math.max(...rows.map(({ fencing_token }) => fencing_token)));
    });

    test('upgrades once, whoever asks for it at the same time', async () => {
      await makeOld('upgraded_once', columns.text);
      await addOld('upgraded_once', 1, '2026-01-02 03:04:05');
      const lease = { table: 'upgraded_once' };
      const asked = Array.from({ length: 8 }, () => ensureSchema(site.process({ lease }).ownership));
      const answers = (await Promise.all(asked)).map((answer) => answer._unsafeUnwrap());
      expect(answers.filter((answer) => answer === 'upgraded')).toHaveLength(1);
      expect(await site.leases('upgraded_once')).toHaveLength(1);
    });

    test.each([
      ['text', 'as SQLite writes it', '2026-03-29 02:30:00'],
      ['text', 'in ISO 8601', '2026-03-29T02:30:00.500Z'],
      ['instant', 'of its own type', '2026-03-29 02:30:00'],
    ] as const)('keeps an acquired_at in a column of type %s, %s', async (type, _spelling, at) => {
      const table = `kept_${type}_${at.length}`;
      await makeOld(table, columns[type]);
      await addOld(table, 1, type === 'text' ? at : null);
      if (type === 'instant') {
        const value = columns.instant === 'timestamptz' ? `${at}+00` : at;
        await sql`update ${sql.id(table)} set acquired_at = ${value}`.execute(site.db);
      }
      const { ownership } = site.process({ lease: { table } });
      expect((await ensureSchema(ownership))._unsafeUnwrap()).toBe('upgraded');
      const { rows } = await sql<
        Pick<LeaseRow, 'acquired_at'>
      >`select ${store.utc(sql.ref('acquired_at'))} as acquired_at
        from ${sql.id(table)}`.execute(site.db);
      expect(rows[0]?.acquired_at.replace('T', ' ')).toContain('2026-03-29 02:30:00');
    });

    test('keeps rows whose acquired_at says nothing, or nothing that is an instant', async () => {
      await makeOld('nothing_said', columns.text);
      for (const [at, said] of [null, 'soon', '1767323045678', '2026-13-45 99:99:99'].entries()) {
        await addOld('nothing_said', at + 1, said);
      }
      const { ownership } = site.process({ lease: { table: 'nothing_said' } });
      expect((await ensureSchema(ownership))._unsafeUnwrap()).toBe('upgraded');
      expect(await site.leases('nothing_said')).toMatchObject(
        ['1', '2', '3', '4'].map((task_id) => ({ task_id, owner: 'monitor' })),
      );
    });

    test('lets no writer of the first shape in any more', async () => {
      const insert = sql`insert into transition_lease (task_id, owner) values (1, 'old writer')`.execute(site.db);
      await expect(insert).rejects.toThrow();
    });
  });
}
