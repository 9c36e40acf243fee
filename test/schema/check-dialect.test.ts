import BetterSqlite3 from 'better-sqlite3';
import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  type QueryResult,
  SqliteDialect,
  sql,
} from 'kysely';
import {
  checkDialect,
  createTransitionOwnership,
  type Dialect,
  ensureSchema,
  type Finding,
  mysqlDialect,
  postgresDialect,
  type SettingsNeeds,
  sqliteDialect,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { fileSystemIn } from '../../src/system/file-system.js';
import { temporaryFolder } from '../contract/stores/sqlite.js';

interface Tables {
  tasks: { id: number; stage: string | null };
  named: { id: string; stage: string | null };
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const codes = (findings: readonly Finding[]): readonly string[] => findings.map(({ code }) => code);

async function findingsOf(
  kysely: KyselyDialect,
  dialect: Dialect = sqliteDialect,
  idType = 'integer',
): Promise<readonly string[]> {
  const db = new Kysely<Tables>({ dialect: kysely });
  closing.push(() => db.destroy());
  await sql`create table if not exists tasks (id ${sql.raw(idType)} primary key, stage text)`.execute(db);
  const ownership = createTransitionOwnership({ db, dialect, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
  (await ensureSchema(ownership))._unsafeUnwrap();
  const report = (await checkDialect(ownership))._unsafeUnwrap();
  expect(report.ok).toBe(report.findings.every(({ severity }) => severity === 'advice'));
  expect((await sql`select * from transition_lease`.execute(db)).rows).toEqual([]);
  return codes(report.findings);
}

type Bend = (result: QueryResult<unknown>, text: string) => QueryResult<unknown>;

/** A driver that does not tell the truth, over one that does. */
function bent(bend: Bend, rollback = true): KyselyDialect {
  const inner = openSqlite(':memory:');
  return {
    createAdapter: () => inner.createAdapter(),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createIntrospector: (db) => inner.createIntrospector(db),
    createDriver: () => bentDriver(inner.createDriver(), bend, rollback),
  };
}

function bentDriver(inner: Driver, bend: Bend, rollback: boolean): Driver {
  const real = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const of = (connection: DatabaseConnection): DatabaseConnection => real.get(connection) ?? connection;
  return {
    init: () => inner.init(),
    acquireConnection: async () => {
      const connection = await inner.acquireConnection();
      const wrapped: DatabaseConnection = {
        executeQuery: async <R>(query: Parameters<DatabaseConnection['executeQuery']>[0]) =>
          bend(await connection.executeQuery(query), query.sql) as QueryResult<R>,
        streamQuery: (query, size) => connection.streamQuery(query, size),
      };
      real.set(wrapped, connection);
      return wrapped;
    },
    beginTransaction: (connection, settings) => inner.beginTransaction(of(connection), settings),
    commitTransaction: (connection) => inner.commitTransaction(of(connection)),
    rollbackTransaction: (connection) =>
      rollback ? inner.rollbackTransaction(of(connection)) : inner.commitTransaction(of(connection)),
    releaseConnection: (connection) => inner.releaseConnection(of(connection)),
    destroy: () => inner.destroy(),
  };
}

/** SQLite as a database without RETURNING, so that counts decide. */
const counting: Dialect = { ...sqliteDialect, returning: false };
const writes = /^\s*(insert|update|delete)/i;

describe('checkDialect', () => {
  test('finds nothing in a driver that tells the truth', async () => {
    expect(await findingsOf(bent((result) => result))).toEqual([]);
    expect(
      await findingsOf(
        bent((result) => result),
        counting,
      ),
    ).toEqual([]);
  });

  test.each([
    [
      'drops the rows of RETURNING',
      bent((result, text) => (writes.test(text) ? { ...result, rows: [] } : result)),
      sqliteDialect,
      ['no-returning'],
    ],
    ['tells no counts', bent(({ rows }) => ({ rows })), counting, ['no-counts']],
    ['counts nothing', bent((result) => ({ ...result, numAffectedRows: 0n })), counting, ['no-counts']],
    ['counts what was not met', bent((result) => ({ ...result, numAffectedRows: 2n })), counting, ['wrong-counts']],
    ['keeps what was rolled back', bent((result) => result, false), sqliteDialect, ['no-rollback']],
    [
      'rounds big integers',
      bent((result) => ({ ...result, rows: result.rows.map((row) => rounded(row as Record<string, unknown>)) })),
      sqliteDialect,
      ['big-ids-rounded'],
    ],
  ] as const)('finds a driver that %s', async (_what, kysely, dialect, expected) => {
    expect(await findingsOf(kysely, dialect)).toEqual(expected);
  });

  test.each<[string, Partial<Dialect>]>([
    ['compares NULL with nothing', { sameText: (a, b) => sql<boolean>`${a} = ${b}` }],
    ['takes NULL for empty', { sameText: (a, b) => sql<boolean>`coalesce(${a}, '') = coalesce(${b}, '')` }],
  ])('finds a dialect that %s', async (_what, members) => {
    expect(await findingsOf(openSqlite(':memory:'), { ...sqliteDialect, ...members })).toEqual(['null-not-a-value']);
  });

  test('finds a clock that runs backwards', async () => {
    let now = 1e9;
    const backwards: Bend = (result, text) => {
      now -= 1;
      return /^select .* as now_ms$/.test(text) ? { ...result, rows: [{ now_ms: now }] } : result;
    };
    expect(await findingsOf(bent(backwards))).toEqual(['clock-unreadable']);
  });

  test('finds text that does not compare byte by byte', async () => {
    const db = new Kysely<Tables>({ dialect: openSqlite(':memory:') });
    closing.push(() => db.destroy());
    await sql`create table tasks (id integer primary key, stage text)`.execute(db);
    const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
    (await ensureSchema(ownership))._unsafeUnwrap();
    const { rows } = await sql<{ sql: string }>`select sql from sqlite_master where name = 'transition_lease'`.execute(
      db,
    );
    await sql`drop table transition_lease`.execute(db);
    await sql.raw(rows[0]?.sql.replace('"claim" text', '"claim" text collate nocase') ?? '').execute(db);
    expect(codes((await checkDialect(ownership))._unsafeUnwrap().findings)).toEqual(['text-not-binary']);
  });

  test('reads the settings alone if it is told to: nothing is written, and the table need not be there', async () => {
    const folder = temporaryFolder();
    closing.push(() => folder.remove());
    const database = new BetterSqlite3(`${folder.path}/test.sqlite`, { timeout: 100 });
    database.pragma('journal_mode = wal');
    database.exec('create table tasks (id integer primary key, stage text)');
    database.pragma('query_only = on');
    database.pragma('synchronous = normal');
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
    closing.push(() => db.destroy());
    const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
    const report = (await checkDialect(ownership, { settingsOnly: true }))._unsafeUnwrap();
    expect(codes(report.findings)).toEqual(['table-missing', 'read-only', 'commits-not-durable']);
    expect(() => checkDialect(ownership, { settingsOnly: 'yes' as unknown as boolean })).toThrow(
      new TypeError('settingsOnly must be a boolean, got "yes"'),
    );
  });

  test('fails before the table is there', async () => {
    const db = new Kysely<Tables>({ dialect: openSqlite(':memory:') });
    closing.push(() => db.destroy());
    const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
    expect((await checkDialect(ownership))._unsafeUnwrapErr()).toMatchObject({ type: 'store-failure', kind: 'schema' });
  });
});

/** A row whose big integers went through a number. */
function rounded(row: Record<string, unknown>): Record<string, unknown> {
  return 'big' in row ? { big: Number(row['big']) } : row;
}

describe('checkDialect on the settings of an SQLite file', () => {
  const file = (pragmas: readonly string[]): SqliteDialect => {
    const folder = temporaryFolder();
    const database = new BetterSqlite3(`${folder.path}/test.sqlite`, { timeout: 100 });
    for (const pragma of pragmas) database.pragma(pragma);
    closing.push(() => folder.remove());
    return new SqliteDialect({ database });
  };

  test.each([
    [['journal_mode = wal', 'synchronous = full'], []],
    [['journal_mode = wal', 'synchronous = normal'], ['commits-not-durable']],
    [['journal_mode = delete', 'synchronous = off'], ['commits-not-durable']],
    [['journal_mode = delete', 'synchronous = normal'], []],
    [['synchronous = full', 'busy_timeout = 10000'], ['busy-timeout-too-long']],
    [['synchronous = full', 'busy_timeout = 9999'], []],
  ])('%j: finds %j', async (pragmas, expected) => {
    expect(await findingsOf(file(pragmas))).toEqual(expected);
  });

  test.each([
    ['STRING', ['id-affinity']],
    ['INTEGER', ['id-affinity']],
    ['TEXT', []],
    ['VARCHAR(36)', []],
    ['', []],
  ])('text ids in a column of type %j: finds %j', async (type, expected) => {
    const db = new Kysely<Tables>({ dialect: openSqlite(':memory:') });
    closing.push(() => db.destroy());
    await sql`create table named (id ${sql.raw(type)} primary key, stage text)`.execute(db);
    const tasks = { table: 'named', id: 'id', stage: 'stage' } as const;
    const ownership = createTransitionOwnership({ db, tasks, lease: { taskIdType: 'text' } });
    (await ensureSchema(ownership))._unsafeUnwrap();
    expect(codes((await checkDialect(ownership))._unsafeUnwrap().findings)).toEqual(expected);
  });
});

describe('what settings are judged to be', () => {
  const needs: SettingsNeeds = {
    lease: { schema: undefined, table: 'transition_lease' },
    ttlMs: 30_000,
  };
  const sqlite = { journal_mode: 'wal', synchronous: '2', busy_timeout: '100' };
  const postgres = { synchronous_commit: 'on', read_only: 'off', standby: 'false' };
  const mysql = { sql_mode: 'STRICT_TRANS_TABLES', flush_log: '1', read_only: '0', reads_only: '0', autocommit: '1' };

  test.each<[Dialect, Record<string, string>, readonly string[]]>([
    [sqliteDialect, sqlite, []],
    ...['nfs4', 'nfs', 'cifs', '9p', 'fuse.sshfs'].map((type): [Dialect, Record<string, string>, readonly string[]] => [
      sqliteDialect,
      { ...sqlite, file_system: type },
      ['network-file-system'],
    ]),
    [sqliteDialect, { ...sqlite, file_system: 'ext4' }, []],
    [sqliteDialect, { ...sqlite, journal_mode: 'delete', file_system: 'nfs4' }, []],
    [postgresDialect, postgres, ['pool-error-listener']],
    [postgresDialect, { ...postgres, synchronous_commit: 'off' }, ['pool-error-listener', 'commits-not-durable']],
    [postgresDialect, { ...postgres, synchronous_commit: 'local' }, ['pool-error-listener']],
    [postgresDialect, { ...postgres, read_only: 'on' }, ['pool-error-listener', 'read-only']],
    [postgresDialect, { ...postgres, standby: 'true' }, ['pool-error-listener', 'read-only', 'stale-reads']],
    [postgresDialect, { ...postgres, idle_timeout: '0' }, ['pool-error-listener', 'no-idle-timeout']],
    [postgresDialect, { ...postgres, statement_timeout: '0' }, ['pool-error-listener', 'no-statement-timeout']],
    [sqliteDialect, { ...sqlite, query_only: '1' }, ['read-only']],
    [mysqlDialect, mysql, ['pool-error-listener']],
    [
      mysqlDialect,
      { ...mysql, sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES' },
      ['pool-error-listener', 'backslashes-not-escapes', 'not-strict'],
    ],
    [mysqlDialect, { ...mysql, flush_log: '2' }, ['pool-error-listener', 'commits-not-durable']],
    [mysqlDialect, { ...mysql, read_only: '1' }, ['pool-error-listener', 'read-only', 'stale-reads']],
    [mysqlDialect, { ...mysql, reads_only: '1' }, ['pool-error-listener', 'read-only', 'stale-reads']],
    [mysqlDialect, { ...mysql, autocommit: '0' }, ['pool-error-listener', 'autocommit-off']],
    [mysqlDialect, { ...mysql, idle_timeout: '0' }, ['pool-error-listener', 'no-idle-timeout']],
    [mysqlDialect, { ...mysql, statement_timeout: '0' }, ['pool-error-listener', 'no-statement-timeout']],
  ])('%o: %j gives %j', ({ settings }, read, expected) => {
    expect(codes(settings.judge(read, needs))).toEqual(expected);
  });
});

describe('the file system that a file is on', () => {
  const mounts = [
    'overlay / overlay rw 0 0',
    'server:/data /data nfs4 rw 0 0',
    '/dev/sda1 /data/local ext4 rw 0 0',
    'share /with\\040space cifs rw 0 0',
    'tmpfs /twice tmpfs rw 0 0',
    'other /twice 9p rw 0 0',
  ].join('\n');

  test.each([
    ['/elsewhere/a.sqlite', 'overlay'],
    ['/data/a.sqlite', 'nfs4'],
    ['/data/local/a.sqlite', 'ext4'],
    ['/database/a.sqlite', 'overlay'],
    ['/with space/a.sqlite', 'cifs'],
    ['/twice/a.sqlite', '9p'],
  ])('%s is on %s', (file, type) => {
    expect(fileSystemIn(mounts, file)).toBe(type);
  });
});
