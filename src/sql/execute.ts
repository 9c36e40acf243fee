import type { CompiledQuery, ControlledTransaction } from 'kysely';
import { err, ok, type Result } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import type { Classified } from '../dialect/dialect.js';
import { Observer } from '../runtime/observer.js';
import { answered } from './answered.js';
import { type Answer, type LateQuery, send } from './send.js';
import type { Session } from './session.js';

export type { Answer, LateQuery, Row } from './send.js';

/** May a statement be sent again although an earlier try may have been applied? */
export type Repeat = 'repeatable' | 'once';

const MOST_TRIES = 12;
const MOST_LOST_REPLIES = 4;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;
/** No try begins later than this after the first, in ms: on a server one may wait for a lock for a minute. */
const LAST_TRY_AFTER_MS = 10_000;

/**
 * The one way to the database: sends a statement, classifies what goes wrong, and retries what may be retried.
 *
 * Retries are bounded and jittered, and happen only outside a caller's transaction: whole statements that
 * certainly did nothing, and repeatable ones whose reply was lost.
 */
export async function execute(
  session: Session,
  query: CompiledQuery | LateQuery,
  repeat: Repeat = 'repeatable',
): Promise<Result<Answer, StoreFailure>> {
  let lostReplies = 0;
  const mayTry = triesOf(session);
  for (let tries = 1; ; tries += 1) {
    const sent = session.turnstile
      ? await session.turnstile.pass(() => send(session, query))
      : await send(session, query);
    if (sent.isOk()) return lostReplies > 0 ? ok({ ...sent.value, repeated: true }) : sent;
    const { kind, retryable, outcome, cause } = sent.error;
    const replyLost = outcome === 'unknown';
    const again = retryable && !session.inTransaction && (!replyLost || repeat === 'repeatable');
    if (replyLost) lostReplies += 1;
    if (!again || !mayTry(tries + 1) || lostReplies >= MOST_LOST_REPLIES) {
      const failure =
        lostReplies > 0 && !replyLost ? storeFailure({ kind, retryable, outcome: 'unknown', cause }) : sent.error;
      session.observer.tell('store.failed', { kind, retryable, outcome: failure.outcome, message: failure.message });
      return err(failure);
    }
    await pause(session, tries);
  }
}

/** Whether one more try is within the bounds, counted from now. */
function triesOf({ clock }: Session): (tries: number) => boolean {
  const sinceMs = clock.monotonicMs();
  return (tries) => tries <= MOST_TRIES && clock.monotonicMs() - sinceMs < LAST_TRY_AFTER_MS;
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
 * Runs statements in one transaction of our own, and answers the first failure. It is begun again, as a whole,
 * after trouble that certainly did nothing.
 *
 * By Kysely's transaction and not by a `begin` of ours: some drivers have connections for nothing else; and by one
 * that we end ourselves, for what a rollback says, which may have nothing left to roll back, must never hide what
 * went wrong before it, in a commit above all.
 */
export async function transact<T>(
  session: Session,
  work: (session: Session) => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  const once = (): Promise<Result<T, StoreFailure>> => beginAndEnd(session, work);
  const mayTry = triesOf(session);
  for (let tries = 1; ; tries += 1) {
    const done = session.turnstile ? await session.turnstile.pass(once) : await once();
    if (done.isOk()) return done;
    const { kind, retryable, outcome, message } = done.error;
    if (!retryable || outcome === 'unknown' || !mayTry(tries + 1)) {
      session.observer.tell('store.failed', { kind, retryable, outcome, message });
      return done;
    }
    await pause(session, tries);
  }
}

/** A statement that fails in a transaction of our own is told when that is given up, and once. */
const UNHEARD = new Observer(undefined);

async function beginAndEnd<T>(
  session: Session,
  work: (session: Session) => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  let ended: Result<T, StoreFailure> | undefined;
  try {
    // On a connection that goes back by itself: a transaction of some releases keeps it where its rollback fails.
    return await session.database.connection().execute(async (connection) => {
      const transaction = await connection.startTransaction().execute();
      const inside = {
        ...session,
        database: transaction,
        inTransaction: true,
        turnstile: undefined,
        observer: UNHEARD,
      };
      const worked = await answered(inside, work(inside));
      ended = worked.isErr() ? err(storeFailure({ ...worked.error, outcome: 'not-applied' })) : worked;
      if (ended.isOk()) ended = await commit(session, transaction, ended);
      if (ended.isErr()) await rollBack(transaction);
      return ended;
    });
  } catch (cause) {
    return ended ?? err(storeFailure({ ...session.dialect.classify(cause), outcome: 'not-applied', cause }));
  }
}

async function commit<T>(
  { dialect }: Session,
  transaction: ControlledTransaction<object>,
  worked: Result<T, StoreFailure>,
): Promise<Result<T, StoreFailure>> {
  try {
    await transaction.commit().execute();
    return worked;
  } catch (cause) {
    return err(storeFailure({ ...committing(dialect.classify(cause)), cause }));
  }
}

async function rollBack(transaction: ControlledTransaction<object>): Promise<void> {
  try {
    await transaction.rollback().execute();
  } catch {
    // There may be nothing left to roll back, or nobody to say it to: what went wrong before is what counts.
  }
}

/**
 * What an error means that a commit was answered with: it did nothing only where the database itself says so. A
 * driver that has no connection cannot say it, and neither can a database that knows of no transaction.
 */
function committing(classified: Classified): Classified {
  const unheard = classified.kind === 'connection' || classified.kind === 'schema';
  return unheard ? { ...classified, outcome: 'unknown' } : classified;
}
