import { err, ok, type Result } from 'neverthrow';
import { unsuitable } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { finding } from '../core/finding.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Trusted } from '../holding/holding.js';
import type { CallersTable } from './callers-table.js';
import type { ColumnsFound } from './columns-found.js';
import type { Pair } from './connection-queue.js';
import { execute, executePair, type Reply, transact } from './execute.js';
import type { Session } from './session.js';
import { shownTable } from './tables.js';

/** What a write knows of the table that it goes to. */
export interface Keyed {
  /** False where no index promises that one id is one row. */
  readonly unique: boolean;
  /** The table, as a finding names it. */
  readonly table: string;
}

/** Where no one asked how the table is keyed. */
export const UNASKED: Keyed = Object.freeze({ unique: true, table: '' });

/** How the caller's tasks are keyed. */
export function tasksKeyed({
  survey,
  settings,
}: Surveyed & { readonly settings: { readonly tasks: CallersTable } }): Keyed {
  return survey.columns.uniqueTasks ? UNASKED : { unique: false, table: shownTable(settings.tasks.named) };
}

/** How the caller's jobs are keyed. */
export function jobsKeyed({ survey }: Surveyed, jobs: CallersTable): Keyed {
  return survey.columns.uniqueJobs ? UNASKED : { unique: false, table: shownTable(jobs.named) };
}

interface Surveyed {
  readonly survey: { readonly columns: ColumnsFound };
}

type Work<T> = (session: Session) => Promise<Result<T, StoreFailure>>;

/**
 * Does what must meet no id twice. Where no index promises that, it is done in a transaction, and undone as a whole
 * when an id was met twice: in the caller's transaction up to a savepoint, so that nothing of it stays there.
 */
export async function eachOnce<T>(
  session: Session,
  { unique, table }: Keyed,
  work: Work<T>,
  metTwice: (value: T) => boolean,
  trusted?: Trusted,
): Promise<Result<T, StoreFailure>> {
  if (unique) return work(session);
  const checked: Work<T> = async (inside) => {
    const done = await work(inside);
    return done.isOk() && metTwice(done.value) ? err(unsuitable([notUnique(table)])) : done;
  };
  return session.inTransaction ? withSavepoint(session, checked) : transact(session, checked, trusted);
}

/** A statement that must meet one row at most. */
export function executeOnce(
  session: Session,
  keyed: Keyed,
  query: Parameters<typeof execute>[1],
  repeat?: Parameters<typeof execute>[2],
  trusted?: Trusted,
): Promise<Result<Reply, StoreFailure>> {
  const send: Work<Reply> = (inside) => execute(inside, query, repeat, trusted);
  return eachOnce(session, keyed, send, metMore(1), trusted);
}

/**
 * Two statements in one commit, the second where the first changed a row: as one unit where the connection can do that
 * and an index promises that one id is one row, else `otherwise` in a transaction.
 */
export async function executePairOnce(
  session: Session,
  { unique }: Keyed,
  pair: Pair,
  { otherwise, trusted }: { readonly otherwise: Work<Reply>; readonly trusted: Trusted | undefined },
): Promise<Result<Reply, StoreFailure>> {
  const sent = unique ? await executePair(session, pair, trusted) : ok(undefined);
  if (sent.isErr()) return err(sent.error);
  return sent.value === undefined ? transact(session, otherwise, trusted) : ok(sent.value);
}

/** True of a reply with more rows than these. */
export function metMore(most: number): (reply: Reply) => boolean {
  return ({ rows, count = 0n }) => rows.length > most || count > BigInt(most);
}

async function withSavepoint<T>(session: Session, work: Work<T>): Promise<Result<T, StoreFailure>> {
  const { savepoint } = session.dialect;
  const send = (query: typeof savepoint.set) => execute(session, query.compile(session.database), 'once');
  const set = await send(savepoint.set);
  if (set.isErr()) return err(set.error);
  const done = await work(session);
  // A statement that failed has undone itself, and what its transaction is good for then is as ever.
  const end = done.isErr() && done.error.kind === 'unsuitable' ? savepoint.undo : savepoint.keep;
  if (done.isErr() && end === savepoint.keep) return done;
  const ended = await send(end);
  return done.isOk() && ended.isErr() ? err(ended.error) : done;
}

const notUnique = (table: string) =>
  finding(
    'id-not-unique',
    'error',
    `Two rows of ${inspectValue(table)} have this id, and nothing was written: make its ids unique, or name another column.`,
    table,
  );
