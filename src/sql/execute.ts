import type { CompiledQuery, ControlledTransaction } from 'kysely';
import { err, ok, type Result } from 'neverthrow';
import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { Observer } from '../core/observer.js';
import type { Classified } from '../dialect/dialect.js';
import type { Trusted } from '../holding/holding.js';
import type { Pair } from './connection-queue.js';
import { beginPatiently } from './given-up.js';
import { neverReject } from './never-reject.js';
import { classify, type LateQuery, type Reply, type Row, send } from './send.js';
import { PairFailed } from './send-first.js';
import type { Session } from './session.js';
import type { Database } from './statement.js';
import { Tries } from './tries.js';

export { comesFree, type LateQuery, type Reply, type Row } from './send.js';

/** May a statement be sent again although an earlier try may have been applied? */
export type Repeat = 'repeatable' | 'once';

const MAX_LOST_REPLIES = 4;

/**
 * The one way to the database: sends a statement, classifies what goes wrong, and retries what may be retried. Where
 * there is one connection it is waited for, within bounds: as long as `trusted` is, else `busyWaitMs`.
 *
 * Retries are bounded and jittered, and happen only outside a caller's transaction: whole statements that
 * certainly did nothing, and repeatable ones whose reply was lost.
 */
export async function execute(
  session: Session,
  query: CompiledQuery | LateQuery,
  repeat: Repeat = 'repeatable',
  trusted?: Trusted,
): Promise<Result<Reply, StoreFailure>> {
  let lostReplies = 0;
  const tries = new Tries(session);
  for (;;) {
    const sent = await send(session, query, trusted);
    if (sent.isOk()) return lostReplies > 0 ? ok({ ...sent.value, repeated: true }) : sent;
    const { kind, retryable, outcome, cause } = sent.error;
    const replyLost = outcome === 'unknown';
    const again = retryable && !session.inTransaction && (!replyLost || repeat === 'repeatable');
    if (replyLost) lostReplies += 1;
    if (!again || session.patience?.signal?.aborted || lostReplies >= MAX_LOST_REPLIES || !(await tries.again(cause))) {
      const failure =
        lostReplies > 0 && !replyLost ? storeFailure({ kind, retryable, outcome: 'unknown', cause }) : sent.error;
      session.observer.emit('store.failed', { kind, retryable, outcome: failure.outcome, message: failure.message });
      return err(failure);
    }
  }
}

/** True if the statement changed a row: by its rows where the dialect returns them, else by the count. */
export function changed({ dialect }: Session, { rows, count }: Reply): boolean {
  return dialect.returning ? rows.length > 0 : (count ?? 0n) > 0n;
}

/**
 * Runs statements in one transaction of our own, and returns the first failure. It is begun again, as a whole,
 * after trouble that certainly did nothing.
 *
 * By Kysely's transaction and not by a `begin` of ours: some drivers have connections for nothing else; and by one
 * that we end ourselves, for what a rollback says, which may have nothing left to roll back, must never hide what
 * went wrong before it, in a commit above all.
 */
export async function transact<T>(
  session: Session,
  work: (session: Session) => Promise<Result<T, StoreFailure>>,
  trusted?: Trusted,
): Promise<Result<T, StoreFailure>> {
  return retried(session, () => beginAndEnd(session, work, trusted));
}

/** Does something again, as a whole, that did nothing for a passing reason. */
async function retried<T>(
  session: Session,
  once: () => Promise<Result<T, StoreFailure>>,
): Promise<Result<T, StoreFailure>> {
  const tries = new Tries(session);
  for (;;) {
    const done = await once();
    if (done.isOk()) return done;
    const { kind, retryable, outcome, message, cause } = done.error;
    if (!retryable || outcome === 'unknown' || !(await tries.again(cause))) {
      session.observer.emit('store.failed', { kind, retryable, outcome, message });
      return done;
    }
  }
}

/**
 * Sends a statement, and another in the same commit where that changed a row, as one unit that others may join; returns
 * what the first gave, or nothing where the connection cannot do that and both belong in {@link transact}.
 */
export function executePair(
  session: Session,
  pair: Pair,
  trusted?: Trusted,
): Promise<Result<Reply | undefined, StoreFailure>> {
  return retried(session, async () => {
    try {
      const sent = session.dialect.returning ? await session.queue?.sendPair(session, pair, trusted) : undefined;
      if (sent === undefined || sent === 'elsewhere') return ok(undefined);
      return ok({ rows: sent.rows as readonly Row[], count: sent.numAffectedRows, repeated: false });
    } catch (caught) {
      const { cause, isCommit } = caught instanceof PairFailed ? caught : { cause: caught, isCommit: false };
      const classified = classify(session, cause);
      return err(storeFailure({ ...(isCommit ? committing(classified) : unapplied(classified)), cause }));
    }
  });
}

/** Hears nothing: a statement that fails in a transaction of our own is told when that is given up, and once. */
export const UNHEARD = new Observer(undefined);

async function beginAndEnd<T>(
  session: Session,
  work: (session: Session) => Promise<Result<T, StoreFailure>>,
  trusted: Trusted | undefined,
): Promise<Result<T, StoreFailure>> {
  let ended: Result<T, StoreFailure> | undefined;
  const within = async (connection: Database): Promise<Result<T, StoreFailure>> => {
    beginPatiently(session.patience);
    const transaction = await connection.startTransaction().execute();
    const own = {
      inTransaction: true,
      queue: undefined,
      observer: UNHEARD,
      transaction: undefined,
      patience: undefined,
    };
    const inside = { ...session, ...own, database: transaction };
    const worked = await neverReject(inside, work(inside));
    ended = worked.isErr() ? err(ofNothing(worked.error)) : worked;
    if (ended.isOk()) ended = await commit(session, transaction, ended);
    if (ended.isErr()) await rollBack(transaction);
    return ended;
  };
  try {
    // On a connection that goes back by itself: a transaction of some releases keeps it where its rollback fails.
    const { queue, database } = session;
    return await (queue ? queue.hold(session, within, trusted) : database.connection().execute(within));
  } catch (cause) {
    return ended ?? err(storeFailure({ ...unapplied(classify(session, cause)), cause }));
  }
}

/** A failure in a transaction of our own, which was rolled back: that it ended is nothing to the caller. */
function ofNothing({ transactionEnded: _, ...failure }: StoreFailure): StoreFailure {
  return storeFailure({ ...failure, outcome: 'not-applied' });
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
 * What an error means that came back from a commit: it did nothing only where the database itself says so. A
 * driver that has no connection cannot say it, and neither can a database that knows of no transaction.
 */
function committing(classified: Classified): Classified {
  const unheard = classified.kind === 'connection' || classified.kind === 'schema';
  return unheard ? { ...classified, outcome: 'unknown' } : classified;
}

/** What an error means before a commit was sent. */
function unapplied(classified: Classified): Classified {
  return { ...classified, outcome: 'not-applied' };
}
