import {
  DummyDriver,
  Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type Dialect, type IdType, mysqlDialect, postgresDialect, sqliteDialect } from 'transition-ownership';
import { acquireStatements } from '../../src/sql/acquire-statements.js';
import { assigned, matched } from '../../src/sql/callers-parts.js';
import { CallersTable } from '../../src/sql/callers-table.js';
import { columnsAsSaid, type StoredTimes } from '../../src/sql/columns-found.js';
import { jobStatements } from '../../src/sql/job-statements.js';
import { leaseStatements } from '../../src/sql/lease-statements.js';
import { createTable, type OwnTable, readColumns, rebuildTable } from '../../src/sql/schema-statements.js';
import { soughtStatements } from '../../src/sql/sought-statements.js';
import type { Database } from '../../src/sql/statement.js';
import { LEASE_ALWAYS, leaseBackfill, leaseTable, tableName } from '../../src/sql/tables.js';
import { taskStatements } from '../../src/sql/task-statements.js';

/** The three databases, none of them there: statements are compiled and never sent. */
export const databases: readonly (readonly [Dialect, Database])[] = [
  [
    sqliteDialect,
    new Kysely<object>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    }),
  ],
  [
    postgresDialect,
    new Kysely<object>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    }),
  ],
  [
    mysqlDialect,
    new Kysely<object>({
      dialect: {
        createAdapter: () => new MysqlAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new MysqlIntrospector(db),
        createQueryCompiler: () => new MysqlQueryCompiler(),
      },
    }),
  ],
];

/** A statement as it would be sent. */
interface Compiled {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}
/** Statements by their names. */
export type Statements = Readonly<Record<string, readonly Compiled[]>>;

const named: Pick<OwnTable, 'schema' | 'table'> = {
  schema: undefined,
  table: 'transition_lease',
};

/** Each parameter is its own name, so that one which is laid in the wrong place shows. */
const parameters = new Proxy({}, { get: (_, name) => String(name) });

/** Every statement on leases. */
export function leases(dialect: Dialect, database: Database, idType: IdType = 'integer'): Statements {
  const lease = tableName(named.schema, named.table);
  const statements = leaseStatements(database, dialect, { lease, taskIdType: idType, runIdType: idType });
  return Object.fromEntries(
    Object.entries(statements).map(([name, statement]) => [name, [statement(parameters as never)]]),
  );
}

const times = ({ timeFormat }: Dialect): StoredTimes => columnsAsSaid(timeFormat).times;

/** Every statement that looks at tasks and at their leases together. */
export function acquisitions(
  dialect: Dialect,
  database: Database,
  idType: IdType = 'integer',
  hostile = false,
): Statements {
  const names = {
    lease: tableName(named.schema, named.table),
    tasks: new CallersTable(database, hostile ? 'order "x" `y`' : 'tasks', []),
    id: hostile ? 'i"d`' : 'id',
    stage: hostile ? 'sta"ge`; --' : 'stage',
    taskIdType: idType,
    runIdType: idType,
  };
  const own = leaseStatements(database, dialect, names);
  const { take, takeMany, find, findLatestHolder, findLatest, ...many } = acquireStatements(
    database,
    dialect,
    names,
    own,
  );
  const sought = soughtStatements(database, dialect, names, own);
  const row = {
    claim: 'claim',
    taskId: 'taskId',
    actor: 'actor',
    runId: 'runId',
    stage: 'stage',
    ttlMs: 1,
    maxHoldMs: 2,
  };
  const process = { pid: 1, bootId: 'bootId', host: 'host', start: 'start' };
  const given = parameters as never;
  return {
    take: [take({ ...row, ...process, anyStage: false })],
    'take in any stage': [take({ ...row, ...process, anyStage: true })],
    takeMany: [takeMany([{ ...row, anyStage: true }], process)],
    find: [find(given)],
    'find latest holder': [findLatestHolder(given)],
    'find latest': [findLatest(given)],
    findMany: [many.findMany(['one', 'two', 'three'])],
    'findMany latest holders': [many.findManyLatestHolders(['one', 'two', 'three'])],
    'findMany latest': [many.findManyLatest(['one', 'two', 'three'])],
    ...(idType === 'text' && {
      'sought spelling': [sought.spelling(given)],
      'sought holder': [sought.holder(given)],
      'sought latest holder': [sought.latestHolder(given)],
      'sought holders': [sought.holders(['one', 'two', 'three'])],
      'sought latest holders': [sought.latestHolders(['one', 'two', 'three'])],
    }),
  };
}

/** Every statement on the tasks of the caller. */
export function stages(dialect: Dialect, database: Database, idType: IdType = 'integer', hostile = false): Statements {
  const statements = taskStatements(database, dialect, {
    tasks: new CallersTable(database, hostile ? 'order "x" `y`' : 'tasks', []),
    id: hostile ? 'i"d`' : 'id',
    stage: hostile ? 'sta"ge`; --' : 'stage',
    updatedAt: hostile ? 'at"`' : 'updated_at',
    idType,
    lease: tableName(named.schema, named.table),
    times: () => times(dialect),
  });
  const given = { taskId: 'taskId', expected: 'expected', next: 'next', claim: 'claim' };
  const set = hostile ? { 'no"te`': 'x' } : { note: 'note' };
  return {
    fenced: [statements.write('fenced', given, set)],
    free: [statements.write('free', given, {})],
    expected: [statements.write('expected', given, {})],
    none: [statements.write('none', given, {})],
    ...(dialect.fusedRelease && { fencedAndReleased: [statements.writeAndRelease(given, set)] }),
    readStage: [statements.readStage({ taskId: 'taskId' })],
    readLatestStage: [statements.readLatestStage({ taskId: 'taskId' })],
  };
}

/** Every statement on the schema. */
export function schema(dialect: Dialect, database: Database): Statements {
  const shape = leaseTable('integer', 'integer');
  const table: OwnTable = { ...named, shape, always: LEASE_ALWAYS, backfill: leaseBackfill(dialect, 30_000) };
  const { schemaLock } = dialect;
  return {
    readColumns: [readColumns(database, dialect, named)],
    lock: schemaLock.enter(named).map((fragment) => fragment.compile(database)),
    create: createTable(database, dialect, table),
    upgrade: rebuildTable(database, dialect, table, new Set(LEASE_ALWAYS)),
    unlock: schemaLock.leave(named).map((fragment) => fragment.compile(database)),
  };
}

/** The two statements of the survey, for all that it can look at. */
export function survey(dialect: Dialect, database: Database): Statements {
  const wanted = [{ schema: 'app', table: 'tasks' }, named];
  const bound = { dates: [new Date(0), new Date(1)], as: 'utc' } as const;
  const needs = { lease: named, ttlMs: 30_000, tokens: tableName(named.schema, named.table), bound };
  return {
    catalogue: [dialect.catalogue.read(wanted).compile(database)],
    settings: [dialect.settings.read(needs).compile(database)],
  };
}

const run = { jobId: 1, taskId: null, runId: 7, pid: 77, started: 'started', startedAt: null, claim: 'nonce' };

/** Every statement on jobs. */
export function jobs(dialect: Dialect, database: Database, idType: IdType = 'integer', isHostile = false): Statements {
  const name = (plain: string): string => (isHostile ? `${plain} "\`\\ '` : plain);
  const table = new CallersTable(database, name('jobs'), []);
  const names = {
    table,
    id: name('id'),
    taskId: name('task_id'),
    status: name('status'),
    runId: name('run_id'),
    pid: name('pid'),
    startedAt: name('started_at'),
    finishedAt: name('finished_at'),
    availableAt: name('available_at'),
    host: name('host'),
    pidStart: name('pid_start'),
    claim: name('claim'),
    alsoClear: [name('worker_id')],
    statuses: { queued: name('queued'), running: name('running'), failed: name('failed') },
  };
  const types = { idType, taskIdType: idType, runIdType: idType, times: () => stored };
  const stored = times(dialect);
  const statements = jobStatements(database, dialect, names, types);
  const claim = {
    where: matched(table, { [name('kind')]: 'kind', [name('note')]: null }),
    orderBy: [{ column: name('priority'), direction: 'desc' }],
    set: assigned(table, { [name('worker_id')]: 'worker' }),
    nonce: 'nonce',
  } as const;
  const { queued, running, failed } = names.statuses;
  const move = { job: run, from: running, to: queued, set: assigned(table, {}) };
  const reset = {
    jobIds: [1, 2],
    from: running,
    expected: { runId: 7, pid: 77, claim: 'nonce' },
    set: assigned(table, {}),
  };
  const ran = { runId: 7, started: 'started', claim: 'nonce' };
  const finish = { jobId: 1, run: ran, status: failed, set: assigned(table, {}) };
  const given = {
    claim: statements.claim(claim),
    pick: statements.pick(claim),
    take: statements.take(claim, 1),
    move: statements.move(move),
    'move elsewhere': statements.move({ ...move, to: failed }),
    finish: statements.finish(finish),
    readFinished: statements.readFinished(finish),
    lockSeen: statements.lockSeen(move),
    moveLocked: statements.moveLocked(move),
    reset: statements.reset(reset),
    lock: statements.lock(reset),
    lockFree: statements.lockFree(reset),
    resetLocked: statements.resetLocked(reset),
    ...Object.fromEntries(
      (
        ['read', 'stamp', 'readStamp', 'firstRunning', 'nextRunning', 'firstQueued', 'nextQueued', 'countJobs'] as const
      ).map((of) => [of, statements[of](parameters as never)]),
    ),
  };
  return Object.fromEntries(Object.entries(given).map(([of, statement]) => [of, [statement]]));
}
