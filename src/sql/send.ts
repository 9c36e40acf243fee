import type { CompiledQuery, QueryResult } from 'kysely';
import { err, ok, type Result } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Session } from './session.js';
import type { Database } from './statement.js';

/** One row as the driver gave it. */
export type Row = Readonly<Record<string, unknown>>;

/** What a statement answered. */
export interface Answer {
  readonly rows: readonly Row[];
  /** Rows changed as the driver counts them; `undefined` where it does not. */
  readonly count: bigint | undefined;
  /** True if an earlier try of the same statement may have been applied already. */
  readonly repeated: boolean;
}

/** A statement that is made when there is a connection to send it over; `undefined` if it is no longer wanted. */
export type LateQuery = () => CompiledQuery | undefined;

/** Statements that are remembered as refused at first; expressions of the caller's may make any number. */
const MOST_INSISTING = 1_000;

const NOT_SENT: Answer = Object.freeze({ rows: Object.freeze([]), count: 0n, repeated: false });

/** Sends a statement once, and classifies what goes wrong; one that a session refuses for a setting is insisted on. */
export async function send(session: Session, query: CompiledQuery | LateQuery): Promise<Result<Answer, StoreFailure>> {
  const { database, dialect, insisting } = session;
  let sent = typeof query === 'function' ? undefined : query;
  let wasRefused = sent !== undefined && insisting.has(sent.sql);
  try {
    const answer = await (typeof query === 'function'
      ? sendLate(database, () => {
          sent = query();
          wasRefused = sent !== undefined && insisting.has(sent.sql);
          return sent && placed(session, sent);
        })
      : database.executeQuery(placed(session, query)));
    if (answer === undefined) return ok(NOT_SENT);
    const { rows, numAffectedRows } = answer;
    return ok({ rows: rows as readonly Row[], count: numAffectedRows, repeated: false });
  } catch (cause) {
    const insisted = sent && !wasRefused ? dialect.insist?.(cause, sent.sql) : undefined;
    if (sent !== undefined && insisted !== undefined && insisting.size <= MOST_INSISTING) {
      insisting.set(sent.sql, insisted);
      return send(session, query);
    }
    return err(storeFailure({ ...dialect.classify(cause), cause }));
  }
}

/** Only who has the connection can still take its statement back. */
function sendLate(database: Database, query: LateQuery): Promise<QueryResult<unknown> | undefined> {
  return database.connection().execute(async (connection) => {
    const wanted = query();
    return wanted && connection.executeQuery(wanted);
  });
}

/** The statement as this session takes it; in a transaction it is for the commit of that to commit. */
function placed({ inTransaction, dialect, insisting }: Session, query: CompiledQuery): CompiledQuery {
  const { committing } = dialect;
  const sql = insisting.get(query.sql) ?? query.sql;
  if (!inTransaction || committing === undefined) return sql === query.sql ? query : { ...query, sql };
  return { ...query, sql: sql.replaceAll(committing, '1 = 1') };
}
