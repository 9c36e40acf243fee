import { sql } from 'kysely';
import { createConnection } from 'mysql2/promise';
import {
  acquireLease,
  type Dialect,
  ensureSchema,
  inspectLease,
  mysqlDialect,
  releaseLease,
  snapshot,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mysqlAddress } from '../contract/stores/mysql.js';
import { mysqlServer, type Place, postgresServer } from './server.js';

const HOUR_MS = 3_600_000;

/** A zone that this test tells the server of: summer time until an instant, or from it on, in seconds. */
async function makeZone(
  name: string,
  changes: readonly (readonly [at: number, summer: boolean])[],
): Promise<() => Promise<void>> {
  const connection = await createConnection(mysqlAddress('mysql'));
  const [{ insertId }] = (await connection.query(
    "insert into time_zone (use_leap_seconds) values ('N')",
  )) as unknown as [{ insertId: number }];
  await connection.query('insert into time_zone_name values (?, ?)', [name, insertId]);
  await connection.query('insert into time_zone_transition_type values (?, 0, 3600, 0, ?), (?, 1, 7200, 1, ?)', [
    insertId,
    'CET',
    insertId,
    'CEST',
  ]);
  for (const [at, summer] of changes) {
    await connection.query('insert into time_zone_transition values (?, ?, ?)', [insertId, at, summer ? 1 : 0]);
  }
  return async () => {
    for (const table of ['time_zone_transition', 'time_zone_transition_type', 'time_zone_name', 'time_zone']) {
      await connection.query(`delete from ${table} where time_zone_id = ?`, [insertId]);
    }
    await connection.end();
  };
}

describe.skipIf(mysqlServer.missing !== undefined)('MySQL in a zone with summer time', () => {
  let place: Place;
  const removals: (() => Promise<void>)[] = [];
  const nowS = Math.floor(Date.now() / 1_000);
  const berlin = `Test/Berlin_${nowS}`;
  const second = `Test/Second_${nowS}`;
  const first = `Test/First_${nowS}`;

  beforeAll(async () => {
    place = await mysqlServer.make('time_zones');
    const spring = Date.UTC(2026, 2, 29, 1) / 1_000;
    const autumn = Date.UTC(2026, 9, 25, 1) / 1_000;
    // The server knows a zone from its first use on: these names are used by this run alone.
    removals.push(
      await makeZone(berlin, [
        [0, false],
        [spring, true],
        [autumn, false],
      ]),
    );
    removals.push(
      await makeZone(second, [
        [0, true],
        [nowS - 1_800, false],
      ]),
    );
    removals.push(
      await makeZone(first, [
        [0, true],
        [nowS + 1_800, false],
      ]),
    );
  });
  beforeEach(() => place.reset());
  afterAll(async () => {
    for (const remove of removals) await remove();
    await place.drop();
  });

  const at = (zone: string, utc?: string): { begin: string[] } => ({
    begin: [`set time_zone = '${zone}'`, ...(utc === undefined ? [] : [`set timestamp = ${Date.parse(utc) / 1_000}`])],
  });

  test('acquires, renews, writes and releases at an instant whose UTC does not exist as local time', async () => {
    const { ownership, told } = place.process(at(berlin, '2026-03-29T02:30:00Z'));
    const done = await withTransitionLease(
      ownership,
      { taskId: 1, actor: 'monitor', stage: 'deploy' },
      async (held) => {
        expect((await held.ensure(1_000)).isOk()).toBe(true);
        return held.updateStage('done');
      },
    );
    expect(done._unsafeUnwrap()).toMatchObject({ to: 'done' });
    expect(told('lease.released')).toHaveLength(1);
  });

  test('holds for an hour that takes no local minute', async () => {
    const holder = place.process(at(berlin, '2026-10-25T00:30:00Z'), { lease: { ttlMs: HOUR_MS } });
    (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const other = place.process(at(berlin, '2026-10-25T00:45:00Z'));
    const busy = (await acquireLease(other.ownership, { taskId: 1, actor: 'reaper' }))._unsafeUnwrapErr();
    expect(busy).toMatchObject({ type: 'lease-busy', verdict: 'live' });
  });

  /** How far the clock of the database is from ours, in a session of a zone. */
  const skewIn = async (zone: string, dialect: Dialect): Promise<number> => {
    const { ownership } = place.process(at(zone), { dialect });
    const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    (await releaseLease(ownership, lease))._unsafeUnwrap();
    return Math.abs(lease.acquiredAtMs - Date.now());
  };

  test.each([
    ['the first time', first],
    ['the second time', second],
    ['never', berlin],
  ])('knows the time although the present local hour comes %s', async (_which, zone) => {
    expect(await skewIn(zone, mysqlDialect)).toBeLessThan(60_000);
  });

  test.each([
    ['the first time', first],
    ['the second time', second],
  ])('writes a TIMESTAMP right although the present local hour comes %s', async (_which, zone) => {
    await sql`alter table tasks modify updated_at timestamp(3) null`.execute(place.db);
    try {
      const { ownership } = place.process(at(zone));
      const moved = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' });
      expect(moved.isOk()).toBe(true);
      const { rows } = await sql<{ s: string }>`select unix_timestamp(updated_at) as s from tasks`.execute(place.db);
      expect(Math.abs(Number(rows[0]?.s) * 1_000 - Date.now())).toBeLessThan(60_000);
    } finally {
      await sql`alter table tasks modify updated_at datetime(3) null`.execute(place.db);
    }
  });

  test('would not know it by SYSDATE alone', async () => {
    const bySysdate = { ...mysqlDialect, nowMs: sql<number>`cast(unix_timestamp(sysdate(3)) * 1000 as signed)` };
    const skews = [await skewIn(first, bySysdate), await skewIn(second, bySysdate)];
    expect(Math.max(...skews)).toBeGreaterThan(HOUR_MS / 2);
  });

  test('agrees with sessions in other zones on how old a lease is', async () => {
    (await acquireLease(place.process(at(second)).ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    for (const zone of ['+00:00', '-11:30', '+05:45', first]) {
      const { leases } = (await snapshot(place.process(at(zone)).ownership))._unsafeUnwrap();
      expect(leases).toMatchObject([{ verdict: 'live' }]);
      expect(Math.abs(leases[0]?.ageMs ?? Number.NaN)).toBeLessThan(60_000);
    }
  });

  test('never moves the start of a lease, whatever the server does to timestamps by itself', async () => {
    const begin = ['set session explicit_defaults_for_timestamp = off'];
    await sql`drop table transition_lease`.execute(place.db);
    const process = place.process({ begin, max: 1 }, { lease: { ttlMs: 3_000, renewEveryMs: 1_000 } });
    (await ensureSchema(process.ownership))._unsafeUnwrap();
    (await acquireLease(process.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    await sql`update transition_lease set acquired_at = '2001-02-03 04:05:06'`.execute(place.db);
    await process.renewed(1);
    const { rows } = await sql`select cast(acquired_at as char) as at from transition_lease`.execute(place.db);
    expect(rows).toEqual([{ at: '2001-02-03 04:05:06.000' }]);
  });
});

describe.skipIf(postgresServer.missing !== undefined)('PostgreSQL in other zones', () => {
  let place: Place;
  beforeAll(async () => {
    place = await postgresServer.make('time_zones');
  });
  beforeEach(() => place.reset());
  afterAll(() => place.drop());

  test.each(['America/New_York', 'Asia/Kathmandu', 'Europe/Berlin', 'UTC'])(
    '%s: tells the same times',
    async (zone) => {
      const { ownership } = place.process({ begin: [`set timezone = '${zone}'`] });
      const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      expect(Math.abs(lease.acquiredAtMs - Date.now())).toBeLessThan(60_000);
      const moved = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
      expect(moved.isOk()).toBe(true);
      const { rows } = await sql<{
        apart: string;
      }>`select greatest(abs(extract(epoch from updated_at - clock_timestamp())),
      abs(extract(epoch from acquired_at - clock_timestamp()))) as apart from tasks, transition_lease`.execute(
        place.db,
      );
      expect(Number(rows[0]?.apart)).toBeLessThan(60);
      const other = place.process({ begin: [`set timezone = 'Pacific/Auckland'`] });
      expect((await inspectLease(other.ownership, 1))._unsafeUnwrap()).toMatchObject({
        state: 'held',
        verdict: 'live',
      });
    },
  );

  test('keeps its clock going in a transaction', async () => {
    const { db, ownership } = place.process();
    await db.transaction().execute(async (trx) => {
      await sql`select now(), pg_sleep(0.2)`.execute(trx);
      const lease = (await acquireLease(ownership.using(trx), { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
      const { rows } = await sql<{ start: string }>`select extract(epoch from now()) * 1000 as start`.execute(trx);
      expect(lease.acquiredAtMs - Number(rows[0]?.start)).toBeGreaterThanOrEqual(199);
      expect(lease.expiresAtMs - lease.acquiredAtMs).toBe(30_000);
    });
  });
});
