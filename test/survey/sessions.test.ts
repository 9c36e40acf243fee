import { renameSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { CompiledQuery } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  checkDialect,
  claimNextJob,
  createJobReaper,
  forceReleaseLease,
  reclaimStaleLeases,
  recoverOnStartup,
  releaseLease,
  releaseLeases,
  requeueRunningJobs,
  resetRunOwnership,
  runEffect,
  sanitizeImpossibleQueued,
  snapshot,
  stampRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { found, kindOf, makeTables, type Owned, ownershipOver, refusal, tasksAlone } from './place.js';

const row = "insert into tasks (id, stage) values (1, 'a'), (2, 'a'), (3, 'a')";
const job = "insert into jobs (id, task_id, status) values (1, 1, 'queued')";
const move = { taskId: 1, expected: 'a', next: 'b' } as const;
const ask = { taskId: 1, actor: 'a' } as const;

const raw = (text: string) => CompiledQuery.raw(text);
const checked = async ({ ownership }: Pick<Owned, 'ownership'>) =>
  (await checkDialect(ownership, { settingsOnly: true }))._unsafeUnwrap();

const reaping = {
  probe: () => 'unknown' as const,
  onDead: () => 'requeue' as const,
  maxRunningMs: 7_200_000,
  finalizeGraceMs: 60_000,
};

const mysql = kindOf('MySQL');
const postgres = kindOf('PostgreSQL');
const sqlite = kindOf('SQLite');

describe.skipIf(mysql.missing !== undefined)('sessions of MySQL', () => {
  test('that commit nothing by themselves are found, and every verb that writes is refused', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    const owned = ownershipOver(place.connect({ begin: ['set autocommit = 0'] }));
    expect(await found(owned)).toEqual(['autocommit-off error']);
    expect(refusal(await acquireLease(owned.ownership, ask))).toEqual(['autocommit-off']);
    expect(refusal(await claimNextJob(owned.ownership))).toEqual(['autocommit-off']);
  });

  test('that were looked at before their autocommit was off write nothing, and lock nothing', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    await place.run(row, job, "insert into jobs (id, task_id, status, started_at) values (2, 1, 'running', now(3))");
    const db = place.connect({ pool: { connectionLimit: 1 } });
    const { ownership } = ownershipOver(db);
    const [lease, other] = (await acquireLeases(ownership, [ask, { ...ask, taskId: 2 }]))._unsafeUnwrap().acquired;
    const claimed = (await claimNextJob(ownership))._unsafeUnwrap();
    if (lease === undefined || other === undefined || claimed === null) throw new Error('all were to be had');
    const set = (value: number) => db.connection().execute((c) => c.executeQuery(raw(`set autocommit = ${value}`)));
    await set(0);
    const written = [
      await acquireLease(ownership, { ...ask, taskId: 3 }),
      await acquireLeases(ownership, [{ ...ask, taskId: 3 }]),
      await updateStageCas(ownership, { ...move, taskId: 3 }),
      await updateStageCas(ownership, { ...move, evenIfHeld: true }),
      await updateStageCas(ownership, { ...move, lease }),
      await stampRunOwnership(ownership, { job: claimed, runId: 1, pid: 1 }),
      await forceReleaseLease(ownership, { taskId: 1, fencingToken: lease.fencingToken ?? 0, by: 'a', reason: 'b' }),
      await releaseLease(ownership, lease),
      await releaseLeases(ownership, [other]),
    ];
    for (const result of written) expect(refusal(result)).toEqual(['autocommit-off']);
    const locks = await place.read('select sum(trx_rows_locked) as locked from information_schema.innodb_trx');
    expect(Number(locks[0]?.['locked'] ?? 0)).toBe(0);
    // In a transaction of the caller's, and in one of our own, the commit is sent.
    await db.transaction().execute(async (trx) => {
      expect(refusal(await updateStageCas(ownership.using(trx), { ...move, taskId: 3 }))).toEqual(['ok']);
    });
    await set(1);
    expect(await place.read("select id from tasks where stage = 'b'")).toEqual([{ id: 3 }]);
    expect(await place.read('select task_id from transition_lease order by task_id')).toHaveLength(2);
  });

  test('with safe updates take every statement: renewals, releases, reclaims, moves and jobs', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    await place.run(row, job, "insert into jobs (id, task_id, status, pid) values (2, 2, 'queued', 5)");
    const safe = { begin: ['set sql_safe_updates = 1'] };
    const { ownership, events } = ownershipOver(place.connect(safe));
    void (await withTransitionLease(ownership, ask, async (held) => {
      expect(refusal(await held.ensure(1_000))).toEqual(['ok']);
      expect(refusal(await held.ensure(1_000))).toEqual(['ok']);
      const effect = { effect: 'merge', key: '1', probe: () => 'not-applied' as const, apply: () => null };
      expect((await runEffect(ownership, held, effect)).isOk()).toBe(true);
      expect(refusal(await held.updateStage('b', { expected: 'a' }))).toEqual(['ok']);
    }));
    const leases = (await acquireLeases(ownership, [ask, { ...ask, taskId: 2 }]))._unsafeUnwrap().acquired;
    expect(refusal(await releaseLeases(ownership, leases))).toEqual(['ok']);
    const late = (await acquireLease(ownership, ask))._unsafeUnwrap();
    await place.run('update transition_lease set expires_ms = 1, deadline_ms = 1');
    expect((await reclaimStaleLeases(ownership))._unsafeUnwrap().reclaimed).toHaveLength(1);
    void (await releaseLease(ownership, late));
    expect((await sanitizeImpossibleQueued(ownership))._unsafeUnwrap().sanitized).toHaveLength(1);
    const claimed = (await claimNextJob(ownership))._unsafeUnwrap();
    if (claimed === null) throw new Error('there is a job');
    expect((await stampRunOwnership(ownership, { job: claimed, runId: 1, pid: 1 }))._unsafeUnwrap()).toBe('stamped');
    expect((await resetRunOwnership(ownership, { jobId: 1, expected: 'any' }))._unsafeUnwrap().reset).toEqual([1]);
    void (await claimNextJob(ownership));
    expect((await requeueRunningJobs(ownership, { owners: 'all' }))._unsafeUnwrap().requeued).toHaveLength(1);
    expect((await createJobReaper(ownership, reaping).tick()).isOk()).toBe(true);
    expect((await recoverOnStartup(ownership, { jobs: 'all' })).isOk()).toBe(true);
    expect(events.filter((event) => event.type === 'store.failed' || event.type === 'lease.renewal-failed')).toEqual(
      [],
    );
  });

  test('with a limit on selects read every row all the same', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    const { ownership, events } = ownershipOver(place.connect({ begin: ['set sql_select_limit = 1'] }));
    const requests = [1, 2, 3].map((taskId) => ({ taskId, actor: 'a' }));
    await place.run(row);
    const { acquired } = (await acquireLeases(ownership, requests))._unsafeUnwrap();
    expect(acquired).toHaveLength(3);
    expect((await snapshot(ownership))._unsafeUnwrap().leases).toHaveLength(3);
    expect((await releaseLeases(ownership, acquired))._unsafeUnwrap()).toEqual(['released', 'released', 'released']);
    expect(events.filter((event) => event.type === 'lease.lost')).toEqual([]);
    await place.run("insert into jobs (id, task_id, status) values (1, 1, 'running'), (2, 1, 'running')");
    const reset = { jobIds: [1, 2], expected: 'any' } as const;
    expect((await resetRunOwnership(ownership, reset))._unsafeUnwrap().reset).toEqual([1, 2]);
  });

  test('that cut text are warned of, and refused where something known is cut', async () => {
    await using place = await mysql.open();
    await makeTables(place, { tasks: { stage: 'varchar(4)' } });
    await place.run(row);
    const lenient = { begin: ["set sql_mode = ''"] };
    const owned = ownershipOver(place.connect(lenient), tasksAlone);
    expect(await found(owned)).toEqual(['not-strict warning']);
    expect(refusal(await updateStageCas(owned.ownership, { ...move, next: 'deploy' }))).toEqual(['text-too-short']);
    expect(await place.read('select stage from tasks where id = 1')).toEqual([{ stage: 'a' }]);
    expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['ok']);
  });

  test('that empty what an enumeration does not know are refused', async () => {
    await using place = await mysql.open();
    await makeTables(place, { tasks: { stage: "enum('a', 'b')" } });
    const owned = ownershipOver(place.connect({ begin: ["set sql_mode = ''"] }), tasksAlone);
    expect(await found(owned)).toEqual(['not-strict error', 'not-strict warning']);
    expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['not-strict']);
  });

  test('that are lenient over wide columns go on', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    await place.run(row);
    const { ownership } = ownershipOver(place.connect({ begin: ["set sql_mode = ''"] }));
    expect(refusal(await updateStageCas(ownership, move))).toEqual(['ok']);
  });

  test('that only read are refused what writes, and may look', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    const owned = ownershipOver(place.connect({ begin: ['set session transaction read only'] }));
    expect(await found(owned)).toEqual(['read-only error', 'stale-reads warning']);
    expect(refusal(await acquireLease(owned.ownership, ask))).toEqual(['read-only']);
    expect((await snapshot(owned.ownership)).isOk()).toBe(true);
  });

  test('a table without transactions is refused', async () => {
    await using place = await mysql.open();
    await makeTables(place);
    await place.run('alter table tasks engine = MyISAM');
    const owned = ownershipOver(place.db, tasksAlone);
    expect(await found(owned)).toEqual(['no-row-locks error']);
    expect(refusal(await updateStageCas(owned.ownership, move))).toEqual(['no-row-locks']);
  });

  test.each([
    ['datetime(3)', 'Z', []],
    ['datetime(3)', '+05:00', ['driver-zone warning']],
    ['timestamp(3) null', '+05:00', ['driver-zone warning']],
  ])('available_at %s written by a driver at %s: finds %j', async (type, timezone, expected) => {
    await using place = await mysql.open();
    await makeTables(place, { jobs: { available_at: type } });
    const db = place.connect({ pool: { timezone }, begin: ["set time_zone = '+00:00'"] });
    expect(await found(ownershipOver(db))).toEqual(expected);
    expect(await found(ownershipOver(db, tasksAlone))).toEqual([]);
  });
});

describe.skipIf(postgres.missing !== undefined)('sessions of PostgreSQL', () => {
  test('that only read are refused what writes, and may look', async () => {
    await using place = await postgres.open();
    await makeTables(place);
    const owned = ownershipOver(place.connect({ begin: ['set default_transaction_read_only = on'] }));
    expect(await found(owned)).toEqual(['read-only error']);
    expect(refusal(await acquireLease(owned.ownership, ask))).toEqual(['read-only']);
    expect((await snapshot(owned.ownership)).isOk()).toBe(true);
  });

  test('in different zones over a column without one are refused until somebody says what it holds', async () => {
    await using place = await postgres.open();
    await makeTables(place, { jobs: { started_at: 'timestamp' } });
    await place.run(job);
    const inUtc = place.connect({ begin: ["set time zone 'UTC'"] });
    const inTokyo = place.connect({ begin: ["set time zone 'Asia/Tokyo'"] });
    const claimed = (await claimNextJob(ownershipOver(inUtc).ownership))._unsafeUnwrap();
    expect(Math.abs((claimed?.startedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
    const unsaid = ownershipOver(inTokyo);
    expect(await found(unsaid)).toEqual(['zone-less-column error']);
    expect(refusal(await createJobReaper(unsaid.ownership, reaping).tick())).toEqual(['zone-less-column']);
    const said = ownershipOver(inTokyo, { timeZone: 'UTC' }).ownership;
    expect((await createJobReaper(said, reaping).tick())._unsafeUnwrap()).toMatchObject({ examined: 1, reaped: 0 });
    const asBefore = ownershipOver(inTokyo, { timeZone: 'session' }).ownership;
    expect((await createJobReaper(asBefore, reaping).tick())._unsafeUnwrap()).toMatchObject({ reaped: 1 });
    const again = (await claimNextJob(said))._unsafeUnwrap();
    expect(Math.abs((again?.startedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
    const [stored] = await place.read(
      "select extract(epoch from started_at at time zone 'UTC') * 1000 as ms from jobs",
    );
    expect(Math.abs(Number(stored?.['ms']) - Date.now())).toBeLessThan(60_000);
  });

  test('London is not UTC in winter either', async () => {
    await using place = await postgres.open();
    await makeTables(place, { tasks: { updated_at: 'timestamp' } });
    const london = place.connect({ begin: ["set time zone 'Europe/London'"] });
    expect(await found(ownershipOver(london, tasksAlone))).toEqual(['zone-less-column error']);
  });

  test('a restore that left the numbers behind is warned of, and acquisitions take the next', async () => {
    await using place = await postgres.open();
    await makeTables(place);
    await place.run(row, "insert into tasks (id, stage) values (11, 'a'), (12, 'a')");
    await place.run(
      `insert into transition_lease (fencing_token, claim, task_id, owner, acquired_ms, expires_ms, ttl_ms, deadline_ms)
        select n, 'c' || n, n + 10, 'a', 1, 1, 30000, null from generate_series(1, 7) as n`,
    );
    const owned = ownershipOver(place.db);
    const { findings } = await checked(owned);
    const behind = findings.find(({ code }) => code === 'identity-behind');
    expect(behind?.severity).toBe('warning');
    const lease = (await acquireLease(owned.ownership, ask))._unsafeUnwrap();
    expect(lease.fencingToken).toBe(8);
    await place.run('alter table transition_lease alter column fencing_token restart with 1');
    const requests = [2, 3].map((taskId) => ({ taskId, actor: 'a' }));
    expect((await acquireLeases(owned.ownership, requests))._unsafeUnwrap().acquired).toHaveLength(2);
    const text = /run (select setval\(.*\))\./.exec(behind?.message ?? '')?.[1] ?? '';
    await place.run('alter table transition_lease alter column fencing_token restart with 1', text);
    expect(await found(owned)).toEqual([]);
  });
});

describe('sessions of SQLite', () => {
  test('that only read are refused what writes, and may look', async () => {
    await using place = await sqlite.open();
    await makeTables(place);
    const owned = ownershipOver(place.connect({ begin: ['pragma query_only = on'] }));
    expect(await found(owned)).toEqual(['read-only error']);
    expect(refusal(await acquireLease(owned.ownership, ask))).toEqual(['read-only']);
    expect((await snapshot(owned.ownership)).isOk()).toBe(true);
  });

  test('whose file was renamed over while somebody holds learn of it at the next look', async () => {
    await using place = await sqlite.open();
    await makeTables(place);
    await place.run(row);
    const owned = ownershipOver(place.connect());
    const held = await withTransitionLease(owned.ownership, ask, async (lease) => {
      expect(refusal(await lease.ensure(1_000))).toEqual(['ok']);
      const copy = `${place.file}.copy`;
      const backup = new BetterSqlite3(place.file);
      await backup.backup(copy);
      backup.close();
      renameSync(copy, place.file);
      return refusal(await lease.ensure(1_000));
    });
    expect(held._unsafeUnwrap()).toEqual(['file-replaced']);
    expect(refusal(await acquireLease(owned.ownership, { ...ask, taskId: 2 }))).toEqual(['file-replaced']);
    expect(await found(owned)).toContain('file-replaced error');
  });
});
