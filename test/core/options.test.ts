import {
  DummyDriver,
  Kysely,
  MssqlAdapter,
  MssqlIntrospector,
  MssqlQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import {
  acquireLease,
  acquireLeases,
  type CallersHandle,
  type CloseOptions,
  checkDialect,
  createTransitionOwnership,
  forceReleaseLease,
  inspectLease,
  ownedBy,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  shouldDefer,
  sqliteDialect,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';

interface Tables {
  tasks: { id: number; stage: string; updated_at: string | null };
}

/** A driver that must not be asked for anything: a refusal comes before every statement. */
class RefusingDriver extends DummyDriver {
  override acquireConnection(): Promise<never> {
    throw new Error('a statement was sent');
  }
}

const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new RefusingDriver(),
    createIntrospector: (handle) => new SqliteIntrospector(handle),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
const jobs = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  statuses: { queued: 'queued', running: 'running', failed: 'failed' },
};
const usual = { db, tasks };
const untyped = createTransitionOwnership as unknown as (options: unknown) => unknown;

describe('createTransitionOwnership', () => {
  test('takes the least that it needs, and is frozen', () => {
    const own = createTransitionOwnership(usual);
    expect(Object.isFrozen(own)).toBe(true);
    expect(own.identity.pid).toBe(process.pid);
  });

  test('takes an option that is undefined for one that was left out', () => {
    const lease = {
      table: undefined,
      schema: undefined,
      ttlMs: undefined,
      renewEveryMs: undefined,
      maxHoldMs: undefined,
    };
    expect(() => untyped({ ...usual, lease, mode: undefined, scope: undefined, onEvent: undefined })).not.toThrow();
  });

  test('takes a lease table of up to 63 characters', () => {
    expect(() => untyped({ ...usual, lease: { table: 'x'.repeat(63) } })).not.toThrow();
  });

  test('keeps the moves as they were when it was made', async () => {
    const transitions: Record<string, string[]> = { a: ['b'], b: [] };
    const own = createTransitionOwnership({ db, tasks: { ...tasks, transitions } });
    transitions['b']?.push('a');
    const moved = await updateStageCas(own, { taskId: 1, expected: 'b', next: 'a' });
    expect(moved._unsafeUnwrapErr()).toMatchObject({ type: 'illegal-transition' });
  });

  test.each<[string, unknown, ErrorConstructor, string]>([
    ['no options', undefined, TypeError, 'options must be an object, got undefined'],
    ['no db', { tasks }, TypeError, 'db must be an object, got undefined'],
    ['a db that is none', { ...usual, db: {} }, TypeError, 'db must be a Kysely, got an object'],
    ['no tasks', { db }, TypeError, 'tasks must be an object, got undefined'],
    [
      'no table',
      { ...usual, tasks: { ...tasks, table: undefined } },
      TypeError,
      'tasks.table must be a string, got undefined',
    ],
    ['an empty column', { ...usual, tasks: { ...tasks, stage: '' } }, RangeError, 'tasks.stage must not be empty'],
    [
      'a stamp that is no name',
      { ...usual, tasks: { ...tasks, updatedAt: 1 } },
      TypeError,
      'tasks.updatedAt must be a string, got 1',
    ],
    [
      'one column for two',
      { ...usual, tasks: { ...tasks, stage: 'id' } },
      RangeError,
      'tasks.stage must not be tasks.id, got "id" for both',
    ],
    [
      'a stamp on the stage',
      { ...usual, tasks: { ...tasks, updatedAt: 'stage' } },
      RangeError,
      'tasks.updatedAt must be a column of its own, got "stage"',
    ],
    [
      'moves to nowhere',
      { ...usual, tasks: { ...tasks, transitions: { a: ['b'] } } },
      RangeError,
      'stage "a" leads to "b", which is not a stage of the map',
    ],
    [
      'moves that are none',
      { ...usual, tasks: { ...tasks, transitions: 'a' } },
      TypeError,
      'tasks.transitions must be an object, got "a"',
    ],
    ['a lease option that is none', { ...usual, lease: 'x' }, TypeError, 'lease must be an object, got "x"'],
    [
      'the table of the tasks',
      { ...usual, lease: { table: 'tasks' } },
      RangeError,
      'lease.table must not be tasks.table, got "tasks" and "tasks"',
    ],
    [
      'a hostile table',
      { ...usual, lease: { table: 'x"; drop table job; --' } },
      RangeError,
      'got "x\\"; drop table job; --"',
    ],
    [
      'a lease table that is the table of tasks, spelled otherwise',
      { ...usual, lease: { table: 'TASKS' } },
      RangeError,
      'lease.table must not be tasks.table, got "TASKS" and "tasks"',
    ],
    [
      'a journal that is the table of tasks',
      { ...usual, effects: { table: 'tasks' } },
      RangeError,
      'effects.table must not be tasks.table, got "tasks" and "tasks"',
    ],
    [
      'a journal that is the lease table, spelled otherwise',
      { ...usual, effects: { table: 'Transition_Lease' } },
      RangeError,
      'effects.table must not be lease.table, got "Transition_Lease" and "transition_lease"',
    ],
    [
      'a lease table that is the table of jobs',
      { ...usual, jobs, lease: { table: 'Jobs' } },
      RangeError,
      'lease.table must not be jobs.table, got "Jobs" and "jobs"',
    ],
    [
      'a journal that is the table of jobs',
      { ...usual, jobs, effects: { table: 'jobs' } },
      RangeError,
      'effects.table must not be jobs.table, got "jobs" and "jobs"',
    ],
    ['a table of null', { ...usual, lease: { table: null } }, TypeError, 'lease.table must be a string, got null'],
    [
      'a table in a list',
      { ...usual, lease: { table: ['t'] } },
      TypeError,
      'lease.table must be a string, got an array',
    ],
    ['a schema of null', { ...usual, lease: { schema: null } }, TypeError, 'lease.schema must be a string, got null'],
    [
      'a liveness of null',
      { ...usual, liveness: null },
      TypeError,
      'liveness must be a function, or have a function judge, got null',
    ],
    ['an empty table', { ...usual, lease: { table: '' } }, RangeError, 'lease.table must be a letter or underscore'],
    ['a dotted table', { ...usual, lease: { table: 'a.b' } }, RangeError, 'lease.table must be a letter or underscore'],
    [
      'a table of 80 characters',
      { ...usual, lease: { table: 'x'.repeat(80) } },
      RangeError,
      'lease.table must be a letter or underscore',
    ],
    [
      'a hostile schema',
      { ...usual, lease: { schema: 'a b' } },
      RangeError,
      'lease.schema must be a letter or underscore',
    ],
    ['a table that is no text', { ...usual, lease: { table: 7 } }, TypeError, 'lease.table must be a string, got 7'],
    [
      'an unknown kind of task id',
      { ...usual, lease: { taskIdType: 'uuid' } },
      RangeError,
      'lease.taskIdType must be one of "integer", "bigint", "text", got "uuid"',
    ],
    [
      'an unknown kind of id of a task',
      { ...usual, tasks: { ...usual.tasks, idType: 'uuid' } },
      RangeError,
      'tasks.idType must be one of "integer", "bigint", "text", got "uuid"',
    ],
    [
      'two kinds of task ids',
      { ...usual, tasks: { ...usual.tasks, idType: 'text' }, lease: { taskIdType: 'bigint' } },
      RangeError,
      'tasks.idType and its alias lease.taskIdType must be the same, got "text" and "bigint"',
    ],
    [
      'an unknown kind of run id',
      { ...usual, lease: { runIdType: null } },
      RangeError,
      'lease.runIdType must be one of "integer", "bigint", "text", got null',
    ],
    [
      'a beat as long as the life',
      { ...usual, lease: { ttlMs: 30_000, renewEveryMs: 30_000 } },
      RangeError,
      'got ttlMs 30000 and renewEveryMs 30000',
    ],
    [
      'a life too short for the beat',
      { ...usual, lease: { ttlMs: 20_000 } },
      RangeError,
      'ttlMs must be at least three times renewEveryMs, got ttlMs 20000 and renewEveryMs 10000',
    ],
    [
      'a life of no time',
      { ...usual, lease: { ttlMs: 0 } },
      RangeError,
      'ttlMs must be a whole number of milliseconds from 150',
    ],
    [
      'a life that is no number',
      { ...usual, lease: { ttlMs: '30s' } },
      TypeError,
      'ttlMs must be a number of milliseconds, got "30s"',
    ],
    [
      'an absurd hold',
      { ...usual, lease: { maxHoldMs: 1e18 } },
      RangeError,
      'maxHoldMs must be a whole number of milliseconds',
    ],
    [
      'an unknown dialect',
      { ...usual, dialect: 'oracle' },
      RangeError,
      'dialect must be "sqlite", "postgres", "mysql" or a Dialect, got "oracle"',
    ],
    [
      'an unknown time format',
      { ...usual, timeFormat: 'unix' },
      RangeError,
      'timeFormat must be one of "sqlite-text", "sqlite-seconds", "iso", "epoch-ms", "native", got "unix"',
    ],
    [
      'an unknown mode',
      { ...usual, mode: 'offf' },
      RangeError,
      'mode must be "on", "observe", "draining" or "off", got "offf"',
    ],
    ['a scope that is none', { ...usual, scope: true }, TypeError, 'scope must be a function, got true'],
    ['an observer that is none', { ...usual, onEvent: 'log' }, TypeError, 'onEvent must be a function, got "log"'],
    [
      'a judge that is none',
      { ...usual, liveness: { name: 'mine' } },
      TypeError,
      'liveness must be a function, or have a function judge, got an object',
    ],
  ])('refuses %s', (_, options, kind, message) => {
    let thrown: unknown;
    try {
      untyped(options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(kind);
    expect((thrown as Error).message).toContain(message);
  });

  test('tells the dialect by the spelling of a placeholder, and asks for it where it cannot', () => {
    const other = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new MssqlAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (handle) => new MssqlIntrospector(handle),
        createQueryCompiler: () => new MssqlQueryCompiler(),
      },
    });
    expect(() => createTransitionOwnership({ db: other, tasks })).toThrow(
      new TypeError('the dialect cannot be inferred from the spelling "\\"a\\" = @1": name it in the option dialect'),
    );
    expect(() => createTransitionOwnership({ db: other, tasks, dialect: sqliteDialect })).not.toThrow();
  });
});

describe('a verb refuses before any statement, and changes nothing:', () => {
  const own = createTransitionOwnership(usual);
  const offed = createTransitionOwnership({ ...usual, mode: 'off' });
  const request = { taskId: 1, actor: 'monitor' };
  const move = { taskId: 1, expected: 'a', next: 'b' };
  type Verb = (...given: unknown[]) => unknown;
  const verb = (function_: unknown) => function_ as Verb;

  test.each<[string, Verb, unknown[], ErrorConstructor, string]>([
    [
      'an ownership that is none',
      verb(acquireLease),
      [{}, request],
      TypeError,
      'the first argument must be an ownership made by createTransitionOwnership',
    ],
    ['no ownership', verb(inspectLease), [undefined, 1], TypeError, 'the first argument must be an ownership'],
    ['no request', verb(acquireLease), [own], TypeError, 'request must be an object, got undefined'],
    [
      'a text for a number',
      verb(acquireLease),
      [own, { ...request, taskId: '1' }],
      TypeError,
      'taskId must be a number, got "1"',
    ],
    [
      'an unsafe number',
      verb(acquireLease),
      [own, { ...request, taskId: 2 ** 53 }],
      RangeError,
      'taskId must be a safe integer',
    ],
    ['no actor', verb(acquireLease), [own, { taskId: 1 }], TypeError, 'actor must be a string, got undefined'],
    ['an empty actor', verb(acquireLease), [own, { ...request, actor: '' }], RangeError, 'actor must not be empty'],
    [
      'a long actor',
      verb(acquireLease),
      [own, { ...request, actor: 'x'.repeat(256) }],
      RangeError,
      'actor must have at most 255 bytes of UTF-8, got 256',
    ],
    [
      'a stage that is none',
      verb(acquireLease),
      [own, { ...request, stage: 7 }],
      TypeError,
      'stage must be a string, got 7',
    ],
    [
      'a run that is none',
      verb(acquireLease),
      [own, { ...request, runId: '7' }],
      TypeError,
      'runId must be a number, got "7"',
    ],
    [
      'a life too short for the beat',
      verb(acquireLease),
      [own, { ...request, ttlMs: 29_999 }],
      RangeError,
      'ttlMs must be at least three times renewEveryMs, got ttlMs 29999 and renewEveryMs 10000',
    ],
    [
      'a hold of no time',
      verb(acquireLease),
      [own, { ...request, maxHoldMs: 0 }],
      RangeError,
      'maxHoldMs must be a whole number',
    ],
    [
      'a signal that is none',
      verb(acquireLease),
      [own, { ...request, signal: {} }],
      TypeError,
      'signal must be an AbortSignal, got an object',
    ],
    [
      'a policy that is none',
      verb(acquireLease),
      [own, { ...request, ifStoreFails: 'hope' }],
      RangeError,
      'ifStoreFails must be "refuse" or "proceed-unguarded", got "hope"',
    ],
    [
      'requests that are none',
      verb(acquireLeases),
      [own, request],
      TypeError,
      'requests must be an array, got an object',
    ],
    [
      'a task named twice',
      verb(acquireLeases),
      [own, [request, { ...request, actor: 'reaper' }]],
      RangeError,
      'requests must name each task once, got 1 twice',
    ],
    [
      'one bad request of many',
      verb(acquireLeases),
      [own, [request, { ...request, taskId: 1.5 }]],
      RangeError,
      'taskId must be a safe integer, got 1.5',
    ],
    [
      'a lease that is none',
      verb(releaseLease),
      [own, { ...request, claim: 'a' }],
      TypeError,
      'lease must be a lease that this library granted',
    ],
    ['no lease', verb(releaseLease), [own, null], TypeError, 'lease must be a lease that this library granted'],
    ['leases that are none', verb(releaseLeases), [own, 'all'], TypeError, 'leases must be an array, got "all"'],
    ['a fence that is none', verb(ownedBy), [own, {}], TypeError, 'lease must be a lease that this library granted'],
    ['no task to look at', verb(inspectLease), [own], TypeError, 'taskId must be a number, got undefined'],
    ['no task to ask about', verb(shouldDefer), [own, null], TypeError, 'taskId must be a number, got null'],
    [
      'a limit of none',
      verb(reclaimStaleLeases),
      [own, { limit: 0 }],
      RangeError,
      'limit must be a whole number from 1 to 100000, got 0',
    ],
    [
      'tasks that are none',
      verb(reclaimStaleLeases),
      [own, { taskIds: 1 }],
      TypeError,
      'taskIds must be an array, got 1',
    ],
    [
      'one bad task of many',
      verb(reclaimStaleLeases),
      [own, { taskIds: [1, 'x'] }],
      TypeError,
      'taskIds[] must be a number, got "x"',
    ],
    [
      'an order by nobody',
      verb(forceReleaseLease),
      [own, { taskId: 1, fencingToken: 1, reason: 'x' }],
      TypeError,
      'by must be a string, got undefined',
    ],
    [
      'an order without a reason',
      verb(forceReleaseLease),
      [own, { taskId: 1, fencingToken: 1, by: 'ada', reason: '' }],
      RangeError,
      'reason must not be empty',
    ],
    [
      'an order without a token',
      verb(forceReleaseLease),
      [own, { taskId: 1, by: 'ada', reason: 'x' }],
      TypeError,
      'fencingToken must be a number, got undefined',
    ],
    ['no stage write', verb(updateStageCas), [own], TypeError, 'request must be an object, got undefined'],
    [
      'no expected stage',
      verb(updateStageCas),
      [own, { taskId: 1, next: 'b' }],
      TypeError,
      'expected must be a string, got undefined',
    ],
    [
      'an expected stage of undefined',
      verb(updateStageCas),
      [offed, { ...move, expected: undefined }],
      TypeError,
      'expected must be a string, got undefined',
    ],
    [
      'no next stage',
      verb(updateStageCas),
      [own, { taskId: 1, expected: 'a' }],
      TypeError,
      'next must be a string, got undefined',
    ],
    [
      'a stage that is too long',
      verb(updateStageCas),
      [own, { ...move, next: 'x'.repeat(256) }],
      RangeError,
      'next must have at most 255 bytes',
    ],
    [
      'a write without a task',
      verb(updateStageCas),
      [own, { expected: 'a', next: 'b' }],
      TypeError,
      'taskId must be a number, got undefined',
    ],
    [
      'columns that are none',
      verb(updateStageCas),
      [own, { ...move, set: 'x' }],
      TypeError,
      'set must be an object of columns, got "x"',
    ],
    [
      'a column of undefined',
      verb(updateStageCas),
      [own, { ...move, set: { updated_at: undefined } }],
      TypeError,
      'set.updated_at is undefined: leave it out, or write null',
    ],
    [
      'the stage among the columns',
      verb(updateStageCas),
      [own, { ...move, set: { stage: 'c' } }],
      TypeError,
      'set must not have the column "stage"',
    ],
    [
      'the id among the columns',
      verb(updateStageCas),
      [own, { ...move, set: { id: 2 } }],
      TypeError,
      'set must not have the column "id"',
    ],
    [
      'a flag that is none',
      verb(updateStageCas),
      [own, { ...move, evenIfHeld: 1 }],
      TypeError,
      'evenIfHeld must be a boolean, got 1',
    ],
    [
      'a release of nothing',
      verb(updateStageCas),
      [own, { ...move, release: true }],
      TypeError,
      'release needs the lease to be given back',
    ],
    [
      'a fence that is no lease',
      verb(updateStageCas),
      [own, { ...move, lease: {} }],
      TypeError,
      'lease must be a lease that this library granted',
    ],
    [
      'columns in a list',
      verb(updateStageCas),
      [own, { ...move, set: ['x'] }],
      TypeError,
      'set must be an object of columns, got an array',
    ],
    [
      'columns in a map',
      verb(updateStageCas),
      [own, { ...move, set: new Map([['updated_at', null]]) }],
      TypeError,
      'set must be an object of columns, got a Map',
    ],
    [
      'the stage spelled otherwise, which two databases take for the same',
      verb(updateStageCas),
      [own, { ...move, set: { STAGE: 'c' } }],
      TypeError,
      'set must not have the column "STAGE"',
    ],
    [
      'the id spelled otherwise',
      verb(updateStageCas),
      [own, { ...move, set: { Id: 2 } }],
      TypeError,
      'set must not have the column "Id"',
    ],
    [
      'an expression for a column',
      verb(updateStageCas),
      [own, { ...move, set: { updated_at: sql`now()` } }],
      TypeError,
      'set.updated_at must be a value, got an expression',
    ],
    [
      'a function for a column',
      verb(updateStageCas),
      [own, { ...move, set: { updated_at: () => 'now' } }],
      TypeError,
      'set.updated_at must be a value, got a function',
    ],
    [
      'a check with options that are none',
      verb(checkDialect),
      [own, null],
      TypeError,
      'options must be an object, got null',
    ],
    [
      'a check with options that are text',
      verb(checkDialect),
      [own, 'x'],
      TypeError,
      'options must be an object, got "x"',
    ],
    ['options that are none', verb(reclaimStaleLeases), [own, null], TypeError, 'options must be an object, got null'],
    [
      'requests with a hole',
      verb(acquireLeases),
      [own, new Array(1)],
      TypeError,
      'request must be an object, got undefined',
    ],
    [
      'a handler that is none',
      verb(withTransitionLease),
      [own, request, 'x'],
      TypeError,
      'handler must be a function, got "x"',
    ],
    [
      'close with options that are none',
      (options) => own.close(options as CloseOptions),
      [null],
      TypeError,
      'options must be an object, got null',
    ],
    [
      'using nothing',
      (handle) => own.using(handle as CallersHandle),
      [undefined],
      TypeError,
      'db must be a Kysely, got undefined',
    ],
  ])('%s', (_, call, given, kind, message) => {
    let thrown: unknown;
    try {
      call(...given);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(kind);
    expect((thrown as Error).message).toContain(message);
  });

  test('a lease of another task, another ownership, or beside evenIfHeld', async () => {
    const lease = (await acquireLease(offed, request))._unsafeUnwrap();
    expect(() => updateStageCas(offed, { ...move, taskId: 2, lease })).toThrow(
      new RangeError('lease is of task 1, and the write is of task 2'),
    );
    expect(() => updateStageCas(own, { ...move, lease })).toThrow(
      new TypeError('lease must be a lease of this ownership, not of another one'),
    );
    expect(() => releaseLease(own, lease)).toThrow('not of another one');
    expect(() => updateStageCas(offed, { ...move, lease, evenIfHeld: true })).toThrow(
      new TypeError('evenIfHeld is for writes without a lease'),
    );
  });
});
