import { type CompiledQuery, sql } from 'kysely';
import type { IdValue } from '../core/id.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import { type Columns, type OrderTerm, ordered, type Part } from './callers-parts.js';
import type { JobColumns, JobNames } from './job-columns.js';
import { type JobWriting, place } from './job-writing.js';
import { andCommitting, type Database, type Slots, statement } from './statement.js';

/** Which job a claim takes, and what it sets. */
export interface Claim {
  readonly where: Part;
  readonly orderBy: readonly OrderTerm[];
  readonly set: Part;
  /** Its nonce: what distinguishes it from every other claim of the job, where claims are mapped. */
  readonly nonce: string;
}

/** The run that a stamp writes. */
export interface Stamp {
  readonly jobId: IdValue;
  readonly started: string;
  readonly claim: string | null;
  readonly runId: IdValue;
  readonly pid: number;
  readonly host: string;
  readonly pidStart: string | null;
}

/** The statements that give a job to a run. */
export function jobClaims(
  database: Database,
  dialect: Dialect,
  names: JobNames,
  columns: JobColumns,
  { compiled, returning, update, cleared }: JobWriting,
) {
  const { queued, running } = names.statuses;
  const { table, column, id, key, whole, now, inStatus, isJob, isRun, isPid, hasStarted, hasClaim } = columns;

  const next = (p: Slots<Columns>, { where, orderBy }: Claim, answered: Fragment): Fragment =>
    sql`select ${answered} from ${table}
      where ${sql.join([inStatus(queued), columns.isDue, columns.isReadable, ...where.fragments(p)], sql` and `)}
      order by ${ordered(orderBy, names.id, column)} limit 1 ${dialect.lockFreeRows}`;
  const claiming = (p: Slots<Columns>, { set }: Claim): Fragment =>
    update(p, set, running, {
      ...cleared,
      [names.startedAt]: now('startedAt'),
      ...(names.claim !== undefined && { [names.claim]: place(p, 'nonce') }),
    });
  const nonce = (claim: Claim): Columns => (names.claim === undefined ? {} : { nonce: claim.nonce });

  /** It is still the claim that was returned. */
  const claimed = (p: Slots<Pick<Stamp, 'started' | 'claim'>>): Fragment =>
    sql.join([hasStarted(p.started), ...hasClaim(p.claim)], sql` and `);

  return {
    /** Claims the next job, in one statement; only where UPDATE returns rows. */
    claim: (claim: Claim): CompiledQuery =>
      compiled(
        ['claim', claim.orderBy],
        [claim.where, claim.set],
        nonce(claim),
        (p) => sql`${claiming(p, claim)} where ${id} = (${next(p, claim, id)}) returning ${whole}`,
      ),
    /** Finds and locks the next job. */
    pick: (claim: Claim): CompiledQuery =>
      compiled(['pick', claim.orderBy], [claim.where], {}, (p) => next(p, claim, key)),
    /** Claims a job that this transaction has locked. */
    take: (claim: Claim, jobId: IdValue): CompiledQuery =>
      compiled(
        ['take'],
        [claim.set],
        { jobId, ...nonce(claim) },
        (p) => sql`${claiming(p, claim)} where ${isJob(place(p, 'jobId'))}`,
      ),
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
      const written = stamped.flatMap(([name, value]) => (name === undefined ? [] : [sql`${column(name)} = ${value}`]));
      return sql`update ${table} set ${sql.join(written)} where ${isJob(p.jobId)} and ${inStatus(running)}
        and ${columns.runId} is null and ${columns.pid} is null and ${claimed(p)}${andCommitting(dialect)} ${returning(key)}`;
    }),
    /** Reads a job that has just this stamp. */
    readStamp: statement<Stamp>(
      database,
      (p) => sql`select ${key} from ${table} where ${isJob(p.jobId)} and ${inStatus(running)}
        and ${isRun(p.runId)} and ${isPid(p.pid)} and ${claimed(p)}`,
    ),
  };
}
