import { type CompiledQuery, sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { SeenJob } from '../core/job.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import type { Columns, Part } from './callers-parts.js';
import type { JobColumns, JobNames } from './job-columns.js';
import { type JobWriting, place } from './job-writing.js';
import { andCommitting, type Slots } from './statement.js';

/** The run that a job must have; its claim where one is given. */
export interface ExpectedRun {
  readonly runId: IdValue | null;
  readonly pid: number | null;
  readonly claim?: string | null | undefined;
}

/** Which jobs a reset returns to the queue; `any` for whatever run has them. */
export interface Reset {
  readonly jobIds: readonly IdValue[];
  readonly from: string;
  readonly expected: ExpectedRun | 'any';
  readonly set: Part;
}

/** What distinguishes the run of a job from every other: what is there is compared. */
export interface FinishedRun {
  readonly runId?: IdValue;
  readonly started?: string;
  readonly claim?: string | null;
}

/** The end of a run. */
export interface Finish {
  readonly jobId: IdValue;
  readonly run: FinishedRun;
  readonly status: string;
  readonly set: Part;
}

/** A change of status of one job, just as it was seen. */
export interface Move {
  readonly job: SeenJob;
  readonly from: string;
  readonly to: string;
  readonly set: Part;
}

/** The statements that take a job from its run. */
export function jobReturns(
  dialect: Dialect,
  names: JobNames,
  columns: JobColumns,
  { compiled, returning, update, cleared, ended }: JobWriting,
) {
  const { queued, running } = names.statuses;
  const { table, id, key, seen, inStatus, isJob, isRun, isPid, hasStarted, hasClaim } = columns;

  const named = (p: Slots<Columns>, jobIds: readonly IdValue[]): Fragment => {
    const these = jobIds.map((_, at) => isJob(place(p, `job:${at}`)));
    return sql`(${sql.join(these, sql` or `)})`;
  };
  /** The same, wherever a twin of another spelling does no harm. */
  const among = (p: Slots<Columns>, { jobIds }: Reset): Fragment =>
    sql`${id} in (${sql.join(jobIds.map((_, at) => place(p, `job:${at}`)))})`;
  const meant = (p: Slots<Columns>, { jobIds, from, expected }: Reset): Fragment => {
    const claim = expected === 'any' || expected.claim === undefined ? [] : hasClaim(place(p, 'claim'));
    const run = expected === 'any' ? [] : [isRun(place(p, 'runId')), isPid(place(p, 'pid')), ...claim];
    return sql.join([named(p, jobIds), inStatus(from), ...run], sql` and `);
  };
  const inOrder = (p: Slots<Columns>, reset: Reset, answered: Fragment): Fragment =>
    sql`select ${answered} from ${table} where ${meant(p, reset)} order by ${id} ${dialect.allRows} ${dialect.lockRows}`;
  const reset = (
    kind: string,
    given: Reset,
    parts: readonly Part[],
    build: (p: Slots<Columns>) => Fragment,
  ): CompiledQuery => {
    const { jobIds, from, expected } = given;
    const ids = Object.fromEntries(jobIds.map((jobId, at) => [`job:${at}`, jobId]));
    const key = jobIds.length === 1 ? [kind, from, expected === 'any' ? expected : Object.keys(expected)] : undefined;
    return compiled(key, parts, { ...ids, ...(expected === 'any' ? {} : expected) }, build);
  };

  const free = (p: Slots<Columns>, { from }: Move, answered: Fragment): Fragment => {
    const run = [
      isRun(place(p, 'runId')),
      isPid(place(p, 'pid')),
      hasStarted(place(p, 'started')),
      ...hasClaim(place(p, 'claim')),
    ];
    const asSeen = sql.join([isJob(place(p, 'jobId')), inStatus(from), ...run], sql` and `);
    return sql`select ${answered} from ${table} where ${asSeen} ${dialect.lockFreeRows}`;
  };
  /** To the queue, the run ownership goes; anywhere else it stays, and has ended. */
  const moved = (p: Slots<Columns>, { to, set }: Move): Fragment => update(p, set, to, to === queued ? cleared : ended);
  const moving = (
    kind: string,
    { job, from, to }: Move,
    parts: readonly Part[],
    build: (p: Slots<Columns>) => Fragment,
  ): CompiledQuery => {
    const { jobId, runId, pid, started, claim } = job;
    return compiled([kind, from, to], parts, { jobId, runId, pid, started, claim }, build);
  };

  const isOf = (p: Slots<Columns>, { run }: Finish, status: string): Fragment =>
    sql.join(
      [
        isJob(place(p, 'jobId')),
        inStatus(status),
        ...('runId' in run ? [isRun(place(p, 'runId'))] : []),
        ...('started' in run ? [hasStarted(place(p, 'started'))] : []),
        ...('claim' in run ? hasClaim(place(p, 'claim')) : []),
      ],
      sql` and `,
    );
  const finishing = (
    kind: string,
    { jobId, run, status }: Finish,
    parts: readonly Part[],
    build: (p: Slots<Columns>) => Fragment,
  ): CompiledQuery => compiled([kind, status, Object.keys(run)], parts, { jobId, ...run }, build);

  return {
    /** Ends a running job that is still of this run. */
    finish: (given: Finish): CompiledQuery =>
      finishing(
        'finish',
        given,
        [given.set],
        (p) =>
          sql`${update(p, given.set, given.status, ended)} where ${isOf(p, given, running)}${andCommitting(dialect)} ${returning(key)}`,
      ),
    /** Reads a job that this run ended so. */
    readFinished: (given: Finish): CompiledQuery =>
      finishing('finished', given, [], (p) => sql`select ${key} from ${table} where ${isOf(p, given, given.status)}`),

    /** Changes the status of a job if it is just as it was seen and no one has it locked. */
    move: (given: Move): CompiledQuery =>
      moving(
        'move',
        given,
        [given.set],
        (p) => sql`${moved(p, given)} where ${id} = (${free(p, given, id)}) ${returning(key)}`,
      ),
    /** Locks a job if it is just as it was seen and no one has it locked. */
    lockSeen: (given: Move): CompiledQuery => moving('lock seen', given, [], (p) => free(p, given, key)),
    /** Changes the status of a job that this transaction has locked. */
    moveLocked: (given: Move): CompiledQuery =>
      moving('move locked', given, [given.set], (p) => sql`${moved(p, given)} where ${isJob(place(p, 'jobId'))}`),

    /** Returns jobs to the queue, locking them in the order of their ids. */
    reset: (given: Reset): CompiledQuery =>
      reset(
        'reset',
        given,
        [given.set],
        (p) =>
          sql`${update(p, given.set, queued, cleared)} where ${id} in (${inOrder(p, given, id)}) ${returning(seen)}`,
      ),
    /** Locks the jobs of a reset, in the order of their ids. */
    lock: (given: Reset): CompiledQuery => reset('lock', given, [], (p) => inOrder(p, given, seen)),
    /** Locks those jobs of a reset that no one has locked, in the order of their ids. */
    lockFree: (given: Reset): CompiledQuery =>
      reset(
        'lock free',
        given,
        [],
        (p) => sql`select ${seen} from ${table} where ${among(p, given)} and ${inStatus(given.from)}
          order by ${id} ${dialect.allRows} ${dialect.lockFreeRows}`,
      ),
    /** Returns jobs to the queue that this transaction has locked. */
    resetLocked: (given: Reset): CompiledQuery =>
      reset(
        'locked',
        given,
        [given.set],
        (p) => sql`${update(p, given.set, queued, cleared)} where ${among(p, given)}`,
      ),
  };
}
