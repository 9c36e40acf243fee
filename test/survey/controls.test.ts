import { renameSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  claimNextJob,
  createJobReaper,
  ensureSchema,
  mysqlDialect,
  postgresDialect,
  sqliteDialect,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { kindOf, kinds, makeTables, ownershipOver, refusal, tasksAlone } from './place.js';

/** What happens without each guard: the tests beside this one see to it that it does not happen. */

const move = { taskId: 1, expected: 'a', next: 'b' } as const;
const ask = { taskId: 1, actor: 'a' } as const;
const row = "insert into tasks (id, stage) values (1, 'a'), (2, 'a'), (3, 'a')";
const off = { ...tasksAlone, survey: 'off' } as const;
const mysql = kindOf('MySQL');
const postgres = kindOf('PostgreSQL');

describe.each(kinds)('without a look on $name', (kind) => {
  test.skipIf(kind.missing !== undefined)('one write moves the tasks of two tenants', async () => {
    await using place = await kind.open();
    const { integer } = kind.types;
    await makeTables(place, {
      tasks: { tenant: `${integer} not null`, id: `${integer} not null` },
      after: { tasks: 'primary key (tenant, id)' },
    });
    await place.run("insert into tasks (tenant, id, stage) values (1, 1, 'a'), (2, 1, 'a')");
    expect(refusal(await updateStageCas(ownershipOver(place.db, off).ownership, move))).toEqual(['ok']);
    expect(await place.read("select id from tasks where stage = 'b'")).toHaveLength(2);
  });
});

describe.skipIf(mysql.missing !== undefined)('on MySQL', () => {
  test('a stage that does not fit is cut and told as written', async () => {
    await using place = await mysql.open();
    await makeTables(place, { tasks: { stage: 'varchar(4)' } });
    await place.run(row);
    const { ownership } = ownershipOver(place.connect({ begin: ["set sql_mode = ''"] }), off);
    expect(refusal(await updateStageCas(ownership, { ...move, next: 'deploy' }))).toEqual(['ok']);
    expect(await place.read('select stage from tasks where id = 1')).toEqual([{ stage: 'depl' }]);
  });

  test('a session without autocommit keeps a lease to itself that was told as granted', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    await place.run(row);
    const db = place.connect({ begin: ['set autocommit = 0'], pool: { connectionLimit: 1 } });
    const dialect = { ...mysqlDialect, committing: undefined };
    const { ownership } = ownershipOver(db, { ...off, dialect });
    expect(refusal(await acquireLease(ownership, ask))).toEqual(['ok']);
    expect(await place.read('select task_id from transition_lease')).toEqual([]);
  });

  test('safe updates refuse every renewal unless it is insisted on', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    await place.run(row);
    const db = place.connect({ begin: ['set sql_safe_updates = 1'] });
    const { ownership } = ownershipOver(db, { ...off, dialect: { ...mysqlDialect, insist: undefined } });
    const ensured = await withTransitionLease(ownership, ask, (held) => held.ensure(1_000));
    expect(refusal(ensured)[0]).toMatch(/safe update mode/);
  });

  test('a limit on selects hides leases from those who hold them unless it is lifted', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    await place.run(`insert into tasks (id, stage) values ${ids.map((id) => `(${id}, 'a')`).join(', ')}`);
    const db = place.connect({ begin: ['set sql_select_limit = 1'] });
    const { ownership } = ownershipOver(db, { ...off, dialect: { ...mysqlDialect, allRows: sql`` } });
    const acquired = await acquireLeases(
      ownership,
      ids.map((taskId) => ({ taskId, actor: 'a' })),
    );
    expect(acquired.map((result) => result.acquired.length).unwrapOr(0)).toBeLessThan(ids.length);
  });
});

describe.skipIf(postgres.missing !== undefined)('on PostgreSQL', () => {
  test('a live job is reaped over a session of another zone', async () => {
    await using place = await postgres.open();
    await makeTables(place, { jobs: { started_at: 'timestamp' } });
    await place.run("insert into jobs (id, status) values (1, 'queued')");
    const own = (zone: string) =>
      ownershipOver(place.connect({ begin: [`set time zone '${zone}'`] }), { survey: 'off' }).ownership;
    expect((await claimNextJob(own('UTC'))).isOk()).toBe(true);
    const reaper = createJobReaper(own('Asia/Tokyo'), {
      probe: () => 'unknown' as const,
      onDead: () => 'requeue' as const,
      maxRunningMs: 7_200_000,
      finalizeGraceMs: 60_000,
    });
    expect((await reaper.tick())._unsafeUnwrap()).toMatchObject({ reaped: 1 });
  });

  test('an identity that is behind ends acquisitions after a few tries where nobody has looked', async () => {
    await using place = await postgres.open();
    await makeTables(place);
    await place.run(
      `insert into transition_lease (fencing_token, claim, task_id, owner, acquired_ms, expires_ms, ttl_ms, deadline_ms)
        select n, 'c' || n, n + 10, 'a', 1, 1, 30000, null from generate_series(1, 40) as n`,
      row,
    );
    const { ownership } = ownershipOver(place.db, { ...off, dialect: postgresDialect });
    expect(refusal(await acquireLease(ownership, ask))[0]).toMatch(/^lease-busy/);
  });
});

describe('on SQLite', () => {
  test('a file that was renamed over leaves its holder sure of itself where files are not told apart', async () => {
    const kind = kindOf('SQLite');
    await using place = await kind.open();
    await makeTables(place);
    await place.run(row);
    const files = { identity: () => 'the same' };
    const { ownership } = ownershipOver(place.connect(), { ...tasksAlone, files, dialect: sqliteDialect });
    (await ensureSchema(ownership))._unsafeUnwrap();
    const held = await withTransitionLease(ownership, ask, async (lease) => {
      const backup = new BetterSqlite3(place.file);
      await backup.backup(`${place.file}.copy`);
      backup.close();
      renameSync(`${place.file}.copy`, place.file);
      return refusal(await lease.ensure(1_000));
    });
    expect(held._unsafeUnwrap()).toEqual(['ok']);
  });
});
