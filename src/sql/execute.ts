import type { CompiledQuery } from 'kysely';
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

/** May a statement be sent again although an earlier try may have been applied? */
export type Repeat = 'repeatable' | 'once';

const MOST_TRIES = 12;
const MOST_LOST_REPLIES = 4;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;

/**
 * The one way to the database: sends a statement, classifies what goes wrong, and retries what may be retried.
 *
 * Retries are bounded and jittered, and happen only outside a caller's transaction: whole statements that
 * certainly did nothing, and repeatable ones whose reply was lost.
 */
export async function execute(
  session: Session,
  query: CompiledQuery,
  repeat: Repeat = 'repeatable',
): Promise<Result<Answer, StoreFailure>> {
  let lostReplies = 0;
  for (let tries = 1; ; tries += 1) {
    const sent = session.turnstile
      ? await session.turnstile.pass(() => send(session, query))
      : await send(session, query);
    if (sent.isOk()) return lostReplies > 0 ? ok({ ...sent.value, repeated: true }) : sent;
    const { kind, retryable, outcome, cause } = sent.error;
    const replyLost = outcome === 'unknown';
    const again = retryable && !session.inTransaction && (!replyLost || repeat === 'repeatable');
    if (replyLost) lostReplies += 1;
    if (!again || tries >= MOST_TRIES || lostReplies >= MOST_LOST_REPLIES) {
      const failure =
        lostReplies > 0 && !replyLost ? storeFailure({ kind, retryable, outcome: 'unknown', cause }) : sent.error;
      session.observer.tell('store.failed', { kind, retryable, outcome: failure.outcome, message: failure.message });
      return err(failure);
    }
    await pause(session, tries);
  }
}

async function send({ database, dialect }: Session, query: CompiledQuery): Promise<Result<Answer, StoreFailure>> {
  try {
    const { rows, numAffectedRows } = await database.executeQuery(query);
    return ok({ rows: rows as readonly Row[], count: numAffectedRows, repeated: false });
  } catch (cause) {
    return err(storeFailure({ ...dialect.classify(cause), cause }));
  }
}

function pause({ clock, randomness }: Session, tries: number): Promise<void> {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  return clock.sleep(Math.ceil(ms * (0.5 + randomness.fraction() / 2)));
}

/** True if the statement changed a row: told by rows where the dialect gives them, else by the count. */
export function changed({ dialect }: Session, { rows, count }: Answer): boolean {
  return dialect.returning ? rows.length > 0 : (count ?? 0n) > 0n;
}

/**
 * Runs statements on one connection between `enter` and `leave`; after a failure sends `abandon` and answers
 * the first failure. Kysely's own transaction would hide it behind a rollback that has nothing to roll back.
 */
export async function bracket<T>(
  session: Session,
  { enter, leave, abandon }: Record<'enter' | 'leave' | 'abandon', readonly CompiledQuery[]>,
  work: (session: Session) => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  const onConnection = async (database: Database): Promise<Result<T, StoreFailure>> => {
    const inside: Session = { ...session, database, inTransaction: true, turnstile: undefined };
    const all = async (queries: readonly CompiledQuery[]): Promise<Result<void, StoreFailure>> => {
      for (const query of queries) {
        const sent = await execute(inside, query, 'once');
        if (sent.isErr()) return err(sent.error);
      }
      return ok(undefined);
    };
    const entered = await all(enter);
    if (entered.isErr()) return err(entered.error);
    const worked = await work(inside);
    const left = worked.isOk() ? await all(leave) : ok(undefined);
    if (worked.isOk() && left.isOk()) return worked;
    for (const query of abandon) void (await send(inside, query));
    return left.isErr() ? err(left.error) : worked;
  };
  const connected = (): Promise<Result<T, StoreFailure>> => connect(session, onConnection);
  for (let tries = 1; ; tries += 1) {
    const done = session.turnstile ? await session.turnstile.pass(connected) : await connected();
    if (done.isOk() || !done.error.retryable || done.error.outcome === 'unknown' || tries >= MOST_TRIES) return done;
    await pause(session, tries);
  }
}

async function connect<T>(
  { database, dialect }: Session,
  work: (database: Database) => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  try {
    return await database.connection().execute(work);
  } catch (cause) {
    return err(storeFailure({ ...dialect.classify(cause), cause }));
  }
}
