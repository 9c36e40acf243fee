import type { CompiledQuery, QueryResult } from 'kysely';
import { err, ok, type Result } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Classified } from '../dialect/dialect.js';
import type { Trusted } from '../holding/holding.js';
import { eventLoopOf } from '../system/event-loop.js';
import { sendPatiently } from './given-up.js';
import type { Session } from './session.js';
import { ConnectionTaken, type LateQuery } from './waiting.js';

export type { LateQuery } from './waiting.js';

/** One row as the driver gave it. */
export type Row = Readonly<Record<string, unknown>>;

/** What a statement returned. */
export interface Reply {
  readonly rows: readonly Row[];
  /** Rows changed as the driver counts them; `undefined` where it does not. */
  readonly count: bigint | undefined;
  /** True if an earlier try of the same statement may have been applied already. */
  readonly repeated: boolean;
}

/** Statements that are remembered as refused at first; the caller's expressions may make any number. */
const MAX_INSISTING = 1_000;

const NOT_WANTED: Reply = Object.freeze({ rows: Object.freeze([]), count: 0n, repeated: false });

/** Sends a statement once, and classifies what goes wrong; one that a session refuses for a setting is insisted on. */
export async function send(
  session: Session,
  query: CompiledQuery | LateQuery,
  trusted: Trusted | undefined,
): Promise<Result<Reply, StoreFailure>> {
  const { dialect, insisting } = session;
  let sent: CompiledQuery | undefined;
  let wasRefused = false;
  const made: LateQuery = () => {
    sent = typeof query === 'function' ? query() : query;
    wasRefused = sent !== undefined && insisting.has(sent.sql);
    return sent && placed(session, sent);
  };
  try {
    const answer = await sendOnce(session, made, { trusted, isLate: typeof query === 'function' });
    if (answer === undefined) return ok(NOT_WANTED);
    const { rows, numAffectedRows } = answer;
    return ok({ rows: rows as readonly Row[], count: numAffectedRows, repeated: false });
  } catch (cause) {
    const insisted = sent && !wasRefused ? dialect.insist?.(cause, sent.sql) : undefined;
    if (sent !== undefined && insisted !== undefined && insisting.size <= MAX_INSISTING) {
      insisting.set(sent.sql, insisted);
      return send(session, query, trusted);
    }
    const classified = classify(session, cause);
    const transactionEnded = session.inTransaction && endsTransaction(session, cause, classified) ? true : undefined;
    return err(storeFailure({ ...classified, cause, ...(transactionEnded && { transactionEnded }) }));
  }
}

function sendOnce(
  session: Session,
  query: LateQuery,
  { trusted, isLate }: { readonly trusted: Trusted | undefined; readonly isLate: boolean },
): Promise<QueryResult<unknown> | undefined> {
  const { patience, clock, inTransaction, queue } = session;
  const mayWait = !inTransaction && (isLate || queue !== undefined || patience !== undefined);
  const send = (late: LateQuery) => (mayWait ? sendLate(session, late, trusted) : sendAtOnce(session, late));
  return patience === undefined ? send(query) : sendPatiently(clock, patience, query, send);
}

/** True if nothing more can be committed by the transaction in which an error came. */
function endsTransaction({ dialect }: Session, cause: unknown, { kind }: Classified): boolean {
  return kind === 'connection' || dialect.endsTransaction?.(cause) === true;
}

const NOT_SENT: Classified = Object.freeze({ kind: 'busy', retryable: true, outcome: 'not-applied' });

/** What an error means: the driver's own, or that the connection was waited for in vain. */
export function classify({ dialect }: Session, cause: unknown): Classified {
  return cause instanceof ConnectionTaken ? NOT_SENT : dialect.classify(cause);
}

/** Only who has the connection can still take its statement back. */
function sendLate(
  session: Session,
  query: LateQuery,
  trusted: Trusted | undefined,
): Promise<QueryResult<unknown> | undefined> {
  if (session.queue !== undefined) return session.queue.send(session, query, trusted);
  return session.database.getExecutor().provideConnection(async (connection) => {
    const wanted = query();
    return wanted && connection.executeQuery(wanted);
  });
}

/** True if a connection of a pool comes free within `ms`; it is given back at once. */
export async function comesFree(session: Session, ms: number): Promise<boolean> {
  const patience = { connectionWaitMs: ms, sent: false };
  try {
    await sendPatiently(session.clock, patience, NOTHING, (late) => sendLate(session, late, undefined));
    return true;
  } catch {
    return false;
  }
}

const NOTHING: LateQuery = () => undefined;

async function sendAtOnce(session: Session, query: LateQuery): Promise<QueryResult<unknown> | undefined> {
  const { database, dialect, clock } = session;
  // In a transaction on the only connection, which is all in this process.
  const turn = dialect.oneConnection ? eventLoopOf(clock).due() : undefined;
  if (turn !== undefined) await turn;
  const wanted = query();
  return wanted && database.executeQuery(wanted);
}

/** The statement as this session takes it; in a transaction it is for the commit of that to commit. */
function placed({ inTransaction, dialect, insisting }: Session, query: CompiledQuery): CompiledQuery {
  const { committing } = dialect;
  const sql = insisting.get(query.sql) ?? query.sql;
  if (!inTransaction || committing === undefined) return sql === query.sql ? query : { ...query, sql };
  return { ...query, sql: sql.replaceAll(committing, '1 = 1') };
}
