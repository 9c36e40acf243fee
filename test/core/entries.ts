import type * as library from 'transition-ownership';
import {
  abandonTransition,
  acquireLease,
  acquireLeases,
  advanceFencingToken,
  assessRunningJob,
  assessTransition,
  checkDialect,
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  findImpossibleQueued,
  finishJob,
  forceReleaseLease,
  type Held,
  reclaimStaleLeases,
  recover,
  recoverOnStartup,
  releaseLease,
  requeueRunningJobs,
  resetRunOwnership,
  resolveEffect,
  runEffect,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { createHttpHandler, type HttpOptions } from 'transition-ownership/http';
import { createEffectTable, createLeaseTable } from 'transition-ownership/migrations';
import { openNodeSqlite } from 'transition-ownership/node-sqlite';
import { openTelemetry } from 'transition-ownership/opentelemetry';
import { openPostgres } from 'transition-ownership/postgres';
import { openSqlite } from 'transition-ownership/sqlite';
import { silent } from '../rig/silent.js';

/** One value of each kind; a name takes some of them, and must refuse the others. */
export const values = {
  number: 7,
  text: 'x',
  bigint: 7n,
  boolean: true,
  null: null,
  object: {},
  list: [],
  map: new Map(),
  function: () => undefined,
  symbol: Symbol('x'),
  date: new Date(0),
};
type Value = keyof typeof values;

/** What each name takes, of {@link values}. */
type Takes<T> = { readonly [Name in keyof T]-?: readonly Value[] };

/** One object that a public function takes, with what would be right for it. */
export interface Argument {
  /** As it is called in what is thrown. */
  readonly name: string;
  readonly good: object;
  readonly takes: Readonly<Record<string, readonly Value[]>>;
  readonly call: (given: never) => unknown;
  /** True if it may be left out. */
  readonly optional?: boolean;
}

const ALL = Object.keys(values) as Value[];
const TEXT: readonly Value[] = ['text'];
const NUMBER: readonly Value[] = ['number'];
const FLAG: readonly Value[] = ['boolean'];
const CALL: readonly Value[] = ['function'];
const LIST: readonly Value[] = ['list'];
const OBJECT: readonly Value[] = ['object'];
const NONE: readonly Value[] = [];

type Tasks = { id: number; stage: string; updated_at: string | null };
type Tables = { tasks: Tasks; jobs: Record<string, never> };

export const nothing = silent<Tables>();
const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
const statuses = { queued: 'queued', running: 'running', failed: 'failed' };
const jobs = {
  table: 'jobs',
  id: 'id',
  taskId: 'task_id',
  status: 'status',
  runId: 'run_id',
  pid: 'pid',
  startedAt: 'started_at',
  statuses,
};
const options = { db: nothing.db, tasks, jobs, effects: {}, mode: 'off' };

const make = createTransitionOwnership as unknown as (
  given: object,
) => library.TransitionOwnership<library.ShapeWithJobs>;
export const ownership = make(options);

const lent = await withTransitionLease(ownership, { taskId: 1, actor: 'a', stage: 'x' }, (each) => each);
const held: Held = lent._unsafeUnwrap();

const nested = (name: string) => (given: never) => make({ ...options, [name]: given });
const lease = { taskId: 1, actor: 'a' };
const leaseTakes: Takes<library.LeaseRequest<library.Shape>> = {
  taskId: NUMBER,
  actor: TEXT,
  stage: ['text', 'null'],
  runId: ['number', 'null'],
  context: ALL,
  ttlMs: NUMBER,
  maxHoldMs: NUMBER,
  signal: NONE,
  ifStoreFails: NONE,
};
const move = { taskId: 1, expected: 'x', next: 'y' };
const effect = { effect: 'merge', key: '1', apply: () => undefined };
const effectTakes: Takes<library.EffectRequest> = {
  effect: TEXT,
  key: TEXT,
  probe: CALL,
  apply: CALL,
  needsMs: NUMBER,
};
const reaper = { finalizeGraceMs: 0, maxRunningMs: 3_600_000, onDead: 'requeue' };
const evidence = { pid: 7, process: 'alive', deadTicks: 0, deadForMs: 0, runningForMs: 0, lease: 'none' };
const limits = { deadTicks: 2, finalizeGraceMs: 0, maxRunningMs: 1 };
const claimed = { jobId: 1, started: '2026-01-01 00:00:00.000' };

const argument = <T>(
  name: string,
  good: object,
  takes: Takes<T>,
  call: (given: never) => unknown,
  optional?: boolean,
): Argument => ({ name, good, takes, call, ...(optional && { optional }) });

/** Each object that each function of the library takes. */
export const entries: Readonly<Record<string, readonly Argument[]>> = {
  createTransitionOwnership: [
    argument<
      Parameters<
        typeof createTransitionOwnership<
          Tables,
          { readonly table: 'tasks'; readonly id: 'id'; readonly stage: 'stage' }
        >
      >[0]
    >(
      'options',
      options,
      {
        db: NONE,
        dialect: NONE,
        tasks: NONE,
        jobs: NONE,
        lease: OBJECT,
        effects: OBJECT,
        liveness: CALL,
        mode: CALL,
        scope: CALL,
        timeFormat: NONE,
        timeZone: NONE,
        survey: NONE,
        busyWaitMs: NUMBER,
        onEvent: CALL,
        severity: CALL,
        identity: NONE,
        clock: NONE,
        processes: NONE,
        files: NONE,
        registry: ['map'],
        randomness: NONE,
      },
      make,
    ),
    argument<{ table: 1; id: 1; idType: 1; stage: 1; updatedAt: 1; transitions: 1 }>(
      'tasks',
      tasks,
      { table: TEXT, id: TEXT, idType: NONE, stage: TEXT, updatedAt: TEXT, transitions: OBJECT },
      nested('tasks'),
    ),
    argument<library.LeaseOption<'integer', 'integer'>>(
      'lease',
      {},
      {
        table: TEXT,
        schema: TEXT,
        taskIdType: NONE,
        runIdType: NONE,
        ttlMs: NUMBER,
        renewEveryMs: NUMBER,
        maxHoldMs: NUMBER,
      },
      nested('lease'),
      true,
    ),
    argument<library.EffectsOption>('effects', {}, { table: TEXT, schema: TEXT }, nested('effects'), true),
    argument<library.JobsOption>(
      'jobs',
      jobs,
      {
        table: TEXT,
        id: TEXT,
        taskId: TEXT,
        status: TEXT,
        runId: TEXT,
        pid: TEXT,
        startedAt: TEXT,
        finishedAt: TEXT,
        availableAt: TEXT,
        host: TEXT,
        pidStart: TEXT,
        claim: TEXT,
        idType: NONE,
        statuses: OBJECT,
        singleHost: FLAG,
        alsoClear: LIST,
      },
      nested('jobs'),
      true,
    ),
    argument<library.JobStatuses>('jobs.statuses', statuses, { queued: TEXT, running: TEXT, failed: TEXT }, (given) =>
      make({ ...options, jobs: { ...jobs, statuses: given } }),
    ),
  ],
  'ownership.close': [
    argument<library.CloseOptions>('options', {}, { deadlineMs: NUMBER }, (given) => make(options).close(given), true),
  ],
  acquireLease: [argument('request', lease, leaseTakes, (given) => acquireLease(ownership, given))],
  acquireLeases: [argument('request', lease, leaseTakes, (given) => acquireLeases(ownership, [given]))],
  withTransitionLease: [
    argument('request', lease, leaseTakes, (given) => withTransitionLease(ownership, given, () => undefined)),
  ],
  'held.updateStage': [
    argument<library.HeldStageWrite<library.Shape>>(
      'write',
      {},
      { expected: ['text', 'null'], set: OBJECT, release: FLAG, signal: NONE },
      (given) => held.updateStage('y', given),
      true,
    ),
  ],
  'held.runEffect': [argument('request', effect, effectTakes, (given) => held.runEffect(given))],
  runEffect: [argument('request', effect, effectTakes, (given) => runEffect(ownership, held, given))],
  updateStageCas: [
    argument<library.StageRequest<library.Shape>>(
      'request',
      move,
      {
        taskId: NUMBER,
        expected: ['text', 'null'],
        next: ['text', 'null'],
        lease: NONE,
        set: OBJECT,
        release: FLAG,
        evenIfHeld: FLAG,
        signal: NONE,
        context: ALL,
      },
      (given) => updateStageCas(ownership, given),
    ),
  ],
  releaseLease: [
    argument<library.ReleaseOptions>(
      'options',
      {},
      { signal: NONE },
      (given) => releaseLease(ownership, held, given),
      true,
    ),
  ],
  forceReleaseLease: [
    argument<library.ForceReleaseRequest<library.Shape>>(
      'request',
      { taskId: 1, fencingToken: 1, by: 'ada', reason: 'r' },
      { taskId: NUMBER, fencingToken: NUMBER, by: TEXT, reason: TEXT },
      (given) => forceReleaseLease(ownership, given),
    ),
  ],
  abandonTransition: [
    argument<library.AbandonRequest<library.Shape>>(
      'request',
      { taskId: 1, by: 'ada', reason: 'r' },
      { taskId: NUMBER, fencingToken: NUMBER, by: TEXT, reason: TEXT },
      (given) => abandonTransition(ownership, given),
    ),
  ],
  advanceFencingToken: [
    argument<library.AdvanceRequest>('request', { beyond: 1 }, { beyond: NUMBER }, (given) =>
      advanceFencingToken(ownership, given),
    ),
  ],
  reclaimStaleLeases: [
    argument<library.ReclaimOptions<library.Shape>>(
      'options',
      {},
      { limit: NUMBER, taskIds: LIST },
      (given) => reclaimStaleLeases(ownership, given),
      true,
    ),
  ],
  assessTransition: [
    argument<library.AssessOptions<library.Shape>>(
      'options',
      {},
      { probes: OBJECT, effects: LIST },
      (given) => assessTransition(ownership, 1, given),
      true,
    ),
    argument<library.EffectName>('effects[]', { effect: 'merge', key: '1' }, { effect: TEXT, key: TEXT }, (given) =>
      assessTransition(ownership, 1, { effects: [given] }),
    ),
  ],
  resolveEffect: [
    argument<library.ResolveEffectRequest<library.Shape>>(
      'request',
      { taskId: 1, effect: 'merge', key: '1', outcome: 'applied', by: 'ada', reason: 'r' },
      {
        taskId: NUMBER,
        effect: TEXT,
        key: TEXT,
        outcome: NONE,
        result: ['number', 'text', 'boolean', 'null', 'object', 'list'],
        by: TEXT,
        reason: TEXT,
      },
      (given) => resolveEffect(ownership, given),
    ),
  ],
  recover: [
    argument<library.RecoveryRequest<library.Shape>>(
      'request',
      { jobs: 'dead-only' },
      { jobs: NONE, probes: OBJECT, dryRun: FLAG },
      (given) => recover(ownership, given),
    ),
  ],
  recoverOnStartup: [
    argument<library.RecoveryRequest<library.Shape>>(
      'request',
      { jobs: 'dead-only' },
      { jobs: NONE, probes: OBJECT, dryRun: FLAG },
      (given) => recoverOnStartup(ownership, given),
    ),
  ],
  claimNextJob: [
    argument<library.ClaimRequest<library.ShapeWithJobs>>(
      'request',
      {},
      { where: ['object', 'function'], orderBy: ['text', 'list'], set: OBJECT, signal: NONE },
      (given) => claimNextJob(ownership, given),
      true,
    ),
    argument<{ column: 1; direction: 1 }>('orderBy', { column: 'id' }, { column: TEXT, direction: NONE }, (given) =>
      claimNextJob(ownership, { orderBy: [given] }),
    ),
  ],
  stampRunOwnership: [
    argument<library.StampRequest<library.ShapeWithJobs>>(
      'request',
      { job: claimed, runId: 7, pid: 7 },
      { job: NONE, runId: NUMBER, pid: NUMBER },
      (given) => stampRunOwnership(ownership, given),
    ),
  ],
  finishJob: [
    argument<library.FinishEnd<library.ShapeWithJobs> & Record<'job' | 'jobId' | 'runId' | 'claim', 1>>(
      'request',
      { job: claimed, status: 'done' },
      { job: NONE, jobId: NONE, runId: NUMBER, claim: NONE, status: TEXT, set: OBJECT },
      (given) => finishJob(ownership, given),
    ),
  ],
  resetRunOwnership: [
    argument<library.ResetGuard<library.ShapeWithJobs> & { jobId: 1; jobIds: 1 }>(
      'request',
      { jobId: 1, expected: 'any' },
      { jobId: NUMBER, jobIds: NONE, from: TEXT, expected: NONE, set: OBJECT },
      (given) => resetRunOwnership(ownership, given),
    ),
    argument<{ runId: 1; pid: 1 }>(
      'expected',
      { runId: 7, pid: 7 },
      { runId: ['number', 'null'], pid: ['number', 'null'] },
      (given) => resetRunOwnership(ownership, { jobId: 1, expected: given }),
    ),
  ],
  requeueRunningJobs: [
    argument<library.RequeueRequest>('request', { owners: 'dead-only' }, { owners: NONE }, (given) =>
      requeueRunningJobs(ownership, given),
    ),
  ],
  findImpossibleQueued: [
    argument<library.FindImpossibleOptions>(
      'options',
      {},
      { limit: NUMBER },
      (given) => findImpossibleQueued(ownership, given),
      true,
    ),
  ],
  sanitizeImpossibleQueued: [
    argument<library.SanitizeOptions>(
      'options',
      {},
      { dryRun: FLAG, batchSize: NUMBER },
      (given) => sanitizeImpossibleQueued(ownership, given),
      true,
    ),
  ],
  createJobReaper: [
    argument<library.ReaperOptions<library.ShapeWithJobs>>(
      'options',
      reaper,
      {
        deadTicks: NUMBER,
        finalizeGraceMs: NUMBER,
        maxRunningMs: NUMBER,
        maxGapMs: NUMBER,
        onDead: CALL,
        probe: CALL,
        probeTimeoutMs: NUMBER,
      },
      (given) => createJobReaper(ownership, given),
    ),
  ],
  assessRunningJob: [
    argument<library.RunningEvidence>(
      'evidence',
      evidence,
      {
        pid: ['number', 'null'],
        process: NONE,
        deadTicks: NUMBER,
        deadForMs: NUMBER,
        runningForMs: NUMBER,
        lease: NONE,
      },
      (given) => assessRunningJob(given, limits),
    ),
    argument<library.ReapLimits>(
      'limits',
      limits,
      { deadTicks: NUMBER, finalizeGraceMs: NUMBER, maxRunningMs: NUMBER },
      (given) => assessRunningJob(evidence as library.RunningEvidence, given),
    ),
  ],
  checkDialect: [
    argument<library.CheckOptions>(
      'options',
      {},
      { settingsOnly: FLAG, rows: FLAG },
      (given) => checkDialect(ownership, given),
      true,
    ),
  ],
  openPostgres: [
    argument<Parameters<typeof openPostgres>[0]>(
      'options',
      { pool: { connect: () => Promise.reject(new Error('never')), end: async () => {} } },
      { pool: ['object', 'function', 'map', 'date', 'list'], prepare: FLAG, cursor: CALL },
      openPostgres,
    ),
  ],
  openSqlite: [
    argument<NonNullable<Parameters<typeof openSqlite>[1]>>(
      'options',
      {},
      { synchronous: NONE, busyTimeoutMs: NUMBER },
      (given) => openSqlite(':memory:', given),
      true,
    ),
  ],
  openNodeSqlite: [
    argument<NonNullable<Parameters<typeof openNodeSqlite>[1]>>(
      'options',
      {},
      { synchronous: NONE, busyTimeoutMs: NUMBER },
      // Without node:sqlite the file is refused, and the options before it.
      (given) => openNodeSqlite(':memory:', given),
      true,
    ),
  ],
  createLeaseTable: [
    argument<NonNullable<Parameters<typeof createLeaseTable>[0]>>(
      'options',
      {},
      { table: TEXT, schema: TEXT, taskIdType: NONE, runIdType: NONE },
      (given) => createLeaseTable(given),
      true,
    ),
  ],
  createEffectTable: [
    argument<NonNullable<Parameters<typeof createEffectTable>[0]>>(
      'options',
      {},
      { table: TEXT, schema: TEXT, taskIdType: NONE },
      (given) => createEffectTable(given),
      true,
    ),
  ],
  createHttpHandler: [
    argument<HttpOptions>(
      'options',
      {},
      { authorize: CALL, basePath: NONE, hosts: LIST, queue: CALL },
      (given) => createHttpHandler(ownership, given),
      true,
    ),
  ],
  openTelemetry: [
    argument<NonNullable<Parameters<typeof openTelemetry>[0]>>(
      'options',
      {},
      { meter: NONE, tracer: NONE, attributes: OBJECT, onEvent: CALL },
      (given) => openTelemetry(given),
      true,
    ),
  ],
};
