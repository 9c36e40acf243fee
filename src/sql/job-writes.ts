import { type CompiledQuery, sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { SeenJob } from '../core/job.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import { type Columns, type OrderTerm, ordered, type Part } from './callers-parts.js';
import { type JobColumns, type JobNames, runColumns } from './job-columns.js';
import { type Database, type Slots, type Statement, statement } from './statement.js';

/** Which job a claim takes, and what it sets. */
export interface Claim {
  readonly where: Part;
  readonly orderBy: readonly OrderTerm[];
  readonly set: Part;
}

/** The run that a stamp writes. */
export interface Stamp {
  readonly jobId: IdValue;
  readonly started: string;
  readonly runId: IdValue;
  readonly pid: number;
  readonly host: string;
  readonly pidStart: string | null;
}

/** Which jobs a reset returns to the queue; `any` for whatever run has them. */
export interface Reset {
  readonly jobIds: readonly IdValue[];
  readonly from: string;
  readonly expected: { readonly runId: IdValue | null; readonly pid: number | null } | 'any';
  readonly set: Part;
}

/** A change of status of one job, just as it was seen. */
export interface Move {
  readonly job: SeenJob;
  readonly from: string;
  readonly to: string;
  readonly set: Part;
}

/** The statements that write the caller's jobs. */
export function jobWrites(database: Database, dialect: Dialect, names: JobNames, columns: JobColumns) {
  const { queued, running } = names.statuses;
  const { table, id, key, seen, whole, now, inStatus, isJob, isRun, isPid, hasStarted } = columns;
  const kept = new Map<string, Statement<Columns>>();

  /** Statements of one text are compiled once; those with expressions of the caller's have a text of their own. */
  const compiled = (
    key: readonly unknown[] | undefined,
    parts: readonly Part[],
    values: Columns,
    build: (p: Slots<Columns>) => Fragment,
  ): CompiledQuery => {
    const all = Object.assign({}, values, ...parts.map((part) => part.values)) as Columns;
    if (key === undefined || parts.some((part) => part.key === undefined))
      return statement<Columns>(database, build)(all);
    const text = JSON.stringify([...key, ...parts.map((part) => part.key)]);
    const found = kept.get(text) ?? statement<Columns>(database, build);
    kept.set(text, found);
    return found(all);
  };

  const returning = (answered: Fragment): Fragment => (dialect.returning ? sql`returning ${answered}` : sql``);
  // The caller's come first: on some databases an expression would see what was assigned before it.
  const update = (p: Slots<Columns>, set: Part, status: string, own: Readonly<Record<string, Fragment>>): Fragment => {
    const rest = Object.entries(own).filter(([name]) => !set.columns.includes(name));
    const assigned = [...set.fragments(p), columns.setStatus(status)];
    return sql`update ${table} set ${sql.join([...assigned, ...rest.map(([name, value]) => sql`${sql.id(name)} = ${value}`)])}`;
  };
  const cleared = Object.fromEntries(runColumns(names).map((name) => [name, sql`null`]));
  const ended = names.finishedAt === undefined ? {} : { [names.finishedAt]: now };

  const next = (p: Slots<Columns>, { where, orderBy }: Claim, answered: Fragment): Fragment =>
    sql`select ${answered} from ${table}
      where ${sql.join([inStatus(queued), columns.isDue, ...where.fragments(p)], sql` and `)}
      order by ${ordered(orderBy, names.id)} limit 1 ${dialect.lockFreeRows}`;
  const claiming = (p: Slots<Columns>, { set }: Claim): Fragment =>
    update(p, set, running, { ...cleared, [names.startedAt]: now });

  const named = (p: Slots<Columns>, jobIds: readonly IdValue[]): Fragment => {
    const these = jobIds.map((_, at) => isJob(place(p, `job:${at}`)));
    return sql`(${sql.join(these, sql` or `)})`;
  };
  const meant = (p: Slots<Columns>, { jobIds, from, expected }: Reset): Fragment => {
    const run = expected === 'any' ? [] : [isRun(place(p, 'runId')), isPid(place(p, 'pid'))];
    return sql.join([named(p, jobIds), inStatus(from), ...run], sql` and `);
  };
  const inOrder = (p: Slots<Columns>, reset: Reset, answered: Fragment): Fragment =>
    sql`select ${answered} from ${table} where ${meant(p, reset)} order by ${id} ${dialect.lockRows}`;
  const reset = (
    kind: string,
    given: Reset,
    parts: readonly Part[],
    build: (p: Slots<Columns>) => Fragment,
  ): CompiledQuery => {
    const { jobIds, from, expected } = given;
    const ids = Object.fromEntries(jobIds.map((jobId, at) => [`job:${at}`, jobId]));
    const key = jobIds.length === 1 ? [kind, from, expected === 'any'] : undefined;
    return compiled(key, parts, { ...ids, ...(expected === 'any' ? {} : expected) }, build);
  };

  const free = (p: Slots<Columns>, { from }: Move, answered: Fragment): Fragment => {
    const run = [isRun(place(p, 'runId')), isPid(place(p, 'pid')), hasStarted(place(p, 'started'))];
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
    const { jobId, runId, pid, started } = job;
    return compiled([kind, from, to], parts, { jobId, runId, pid, started }, build);
  };

  return {
    /** Claims the next job, in one statement; only where UPDATE answers with rows. */
    claim: (claim: Claim): CompiledQuery =>
      compiled(
        ['claim', claim.orderBy],
        [claim.where, claim.set],
        {},
        (p) => sql`${claiming(p, claim)} where ${id} = (${next(p, claim, id)}) returning ${whole}`,
      ),
    /** Finds and locks the next job. */
    pick: (claim: Claim): CompiledQuery =>
      compiled(['pick', claim.orderBy], [claim.where], {}, (p) => next(p, claim, key)),
    /** Claims a job that this transaction has locked. */
    take: (claim: Claim, jobId: IdValue): CompiledQuery =>
      compiled(['take'], [claim.set], { jobId }, (p) => sql`${claiming(p, claim)} where ${isJob(place(p, 'jobId'))}`),
    /** Reads a job. */
    read: statement<{ jobId: IdValue }>(database, (p) => sql`select ${whole} from ${table} where ${isJob(p.jobId)}`),

    /** Writes the run of a claimed job. */
    stamp: statement<Stamp>(database, (p) => {
      const stamped = [
        [names.runId, p.runId],
        [names.pid, p.pid],
        [names.host, p.host],
        [names.pidStart, p.pidStart],
      ] as const;
      const written = stamped.flatMap(([name, value]) => (name === undefined ? [] : [sql`${sql.id(name)} = ${value}`]));
      return sql`update ${table} set ${sql.join(written)} where ${isJob(p.jobId)} and ${inStatus(running)}
        and ${columns.runId} is null and ${columns.pid} is null and ${hasStarted(p.started)} ${returning(key)}`;
    }),
    /** Reads a job that has just this stamp. */
    readStamp: statement<Stamp>(
      database,
      (p) => sql`select ${key} from ${table} where ${isJob(p.jobId)} and ${inStatus(running)}
        and ${isRun(p.runId)} and ${isPid(p.pid)} and ${hasStarted(p.started)}`,
    ),

    /** Changes the status of a job if it is just as it was seen and nobody has it locked. */
    move: (given: Move): CompiledQuery =>
      moving(
        'move',
        given,
        [given.set],
        (p) => sql`${moved(p, given)} where ${id} = (${free(p, given, id)}) ${returning(key)}`,
      ),
    /** Locks a job if it is just as it was seen and nobody has it locked. */
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
    /** Returns jobs to the queue that this transaction has locked. */
    resetLocked: (given: Reset): CompiledQuery =>
      reset(
        'locked',
        given,
        [given.set],
        (p) => sql`${update(p, given.set, queued, cleared)} where ${named(p, given.jobIds)}`,
      ),
  };
}

/** The place of a value, by its name. */
function place(places: Slots<Columns>, name: string): Fragment {
  return sql`${places[name]}`;
}
