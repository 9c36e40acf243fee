import type { Context } from '../context.js';
import type { IdValue } from '../core/id.js';
import type { Fragment, TransactionLevel } from '../dialect/dialect.js';
import { comesFree, execute, UNHEARD } from '../sql/execute.js';
import { readText } from '../sql/rows.js';
import type { Session } from '../sql/session.js';
import { tableName } from '../sql/tables.js';

/** Where somebody looks, and whether by the statement that sees the latest commit of whatever a transaction sees. */
export interface Look {
  readonly session: Session;
  readonly latest: boolean;
}

/**
 * Where who only looks, or who has lost, reads: a lock of theirs on a row would last until the end of the caller's
 * transaction, and the renewals of its owner pass over it.
 *
 * So it is a plain read in the transaction where that sees what is committed, else one over another connection, which
 * is waited for as long as `busyWaitMs`. Rows that the transaction has written itself are its own, and locked by it.
 */
export async function lookAt(context: Context, taskIds: readonly IdValue[]): Promise<Look> {
  const { session, root } = context;
  const { inTransaction, transaction, dialect, clock, busyWaitMs, randomness } = session;
  if (!inTransaction) return { session, latest: false };
  if (transaction === undefined || dialect.transactionLevel === undefined) return { session, latest: true };
  if (taskIds.some((taskId) => transaction.written.has(taskId))) return { session, latest: true };
  const untilMs = clock.monotonicMs() + busyWaitMs;
  for (;;) {
    const sees = await seesLatest(context);
    if (sees === true) return { session, latest: false };
    const patience = { connectionWaitMs: busyWaitMs, sent: false };
    const elsewhere = { ...root.session, observer: session.observer, patience };
    if (sees === false || clock.monotonicMs() >= untilMs) return { session: elsewhere, latest: false };
    // What the engine told was old: where no connection comes free meanwhile, it is asked again.
    const waitMs = Math.min(busyWaitMs, AGAIN_MS * (1 + randomness.fraction()));
    if (await comesFree(root.session, waitMs)) return { session: elsewhere, latest: false };
  }
}

/** The longest that who may well win looks for a connection before, in ms. */
const BRIEFLY_MS = 250;

/**
 * The same context for a look before a write that may well win: where no connection comes free soon, the write is sent
 * without it, and nothing is told.
 */
export function lookingBriefly(context: Context): Context {
  const busyWaitMs = Math.min(context.session.busyWaitMs, BRIEFLY_MS);
  return { ...context, session: { ...context.session, busyWaitMs, observer: UNHEARD } };
}

/** For so long the engine tells what it told before, in ms. */
const AGAIN_MS = 110;

/**
 * True if each statement of the caller's transaction sees what is committed when it begins, false if not, and
 * `undefined` if that could not be told now.
 */
export async function seesLatest(context: Context): Promise<boolean | undefined> {
  const { transaction, dialect } = context.session;
  if (transaction === undefined || dialect.transactionLevel === undefined) return false;
  transaction.seesLatest ??= await askLevel(context, dialect.transactionLevel);
  return transaction.seesLatest;
}

async function askLevel(context: Context, level: TransactionLevel): Promise<boolean | undefined> {
  // Nothing that is refused here is worth an event.
  const session: Session = { ...context.session, observer: UNHEARD };
  const { schema, table } = context.settings.leaseTable;
  const mark = context.ports.randomness.claim();
  const send = (fragment: Fragment) => execute(session, fragment.compile(session.database), 'once');
  for (const fragment of level.enter(tableName(schema, table))) {
    if ((await send(fragment)).isErr()) return false;
  }
  const asked = await send(level.read(mark));
  if (asked.isErr()) return false;
  const [row] = asked.value.rows;
  return level.seesLatest({ level: readText(row?.['level']) ?? '', query: readText(row?.['query']) ?? '' }, mark);
}
