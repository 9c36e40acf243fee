import type { CompiledQuery, DatabaseConnection } from 'kysely';
import { invariant } from '../core/invariant.js';
import type { FifoQueue } from './fifo-queue.js';
import { type TogetherConnection, togetherOf, type UnitOutcome } from './together.js';
import type { Statement, Waiting } from './waiting.js';

/** The most units in one commit: whoever else wants to write waits for all of them. */
const MAX_UNITS = 256;
/** How long units are begun in one commit, in ms: timers wait for all of them. */
const MAX_GROUP_MS = 5;

/** The failure of a pair; `isCommit` if it was its commit that failed. */
export class PairFailed extends Error {
  readonly isCommit: boolean;

  constructor(cause: unknown, isCommit: boolean) {
    super('a pair of statements failed', { cause });
    this.name = 'PairFailed';
    this.isCommit = isCommit;
  }
}

/** A statement at the head of the queue, as it is now; not wanted any more without a query. */
interface Ready {
  readonly waiting: Waiting;
  readonly statement: Statement;
  readonly query: CompiledQuery | undefined;
}

/**
 * Sends the statement that is first on the connection, and with it, in one commit, those right behind it that may join.
 *
 * A lone statement goes as it is, and no one waits for company. Every reply is kept until the commit is made.
 */
export async function sendFirst(connection: DatabaseConnection, queue: FifoQueue<Waiting>): Promise<void> {
  const first = statementOf(queue.first);
  if (first === undefined) return;
  const second = statementOf(queue.at(1));
  if (first.whereChanged !== undefined || (second !== undefined && !first.alone)) {
    const together = togetherOf(connection);
    if (together !== undefined) {
      if (sendGroup(together, queue)) return;
    } else if (first.whereChanged !== undefined) {
      queue.shift();
      first.resolve('elsewhere');
      return;
    }
  }
  const waiting = queue.shift();
  try {
    const query = first.query();
    first.resolve(query && (await connection.executeQuery(query)));
  } catch (cause) {
    waiting?.reject(cause);
  }
}

/** Runs what may join at the head of the queue in one commit; false where the first is to be sent as it is. */
function sendGroup(together: TogetherConnection, queue: FifoQueue<Waiting>): boolean {
  const group = gather(together, queue);
  const [first] = group;
  if (first === undefined || (group.length === 1 && first.statement.whereChanged === undefined)) return false;
  const { clock } = first.waiting.place;
  const untilMs = clock.monotonicMs() + MAX_GROUP_MS;
  const wanted = group.flatMap(({ statement: { whereChanged }, query }) => (query ? [{ query, whereChanged }] : []));
  const outcomes = wanted.length === 0 ? [] : together.run(wanted, () => clock.monotonicMs() >= untilMs);
  if (outcomes === 'elsewhere') {
    if (first.statement.whereChanged === undefined) return false;
    queue.shift();
    first.statement.resolve('elsewhere');
    return true;
  }
  if (outcomes === 'taken-back') {
    invariant(group.length > 1, 'one that is alone takes back nothing of others');
    for (const { statement } of group) statement.alone = true;
    return first.statement.whereChanged === undefined ? false : sendGroup(together, queue);
  }
  let done = 0;
  for (const { waiting, statement, query } of group) {
    const outcome = query && outcomes[done];
    if (query !== undefined && outcome === undefined) break;
    queue.shift();
    if (outcome === undefined) statement.resolve(undefined);
    else {
      done += 1;
      settle(waiting, statement, outcome);
    }
  }
  return true;
}

function settle(waiting: Waiting, statement: Statement, outcome: UnitOutcome): void {
  if (outcome.is === 'done') statement.resolve(outcome.result);
  else if (statement.whereChanged === undefined) waiting.reject(outcome.cause);
  else waiting.reject(new PairFailed(outcome.cause, outcome.isCommit));
}

function gather(together: TogetherConnection, queue: FifoQueue<Waiting>): readonly Ready[] {
  const group: Ready[] = [];
  for (let waiting = queue.first; waiting !== undefined && group.length < MAX_UNITS; waiting = queue.at(group.length)) {
    const statement = statementOf(waiting);
    if (statement === undefined || (statement.alone && group.length > 0)) break;
    const query = statement.query();
    // A read among writes: it might ask for what another process has committed, and would be refused.
    if (query !== undefined && !together.mayJoin(query)) break;
    group.push({ waiting, statement, query });
    if (statement.alone) break;
  }
  return group;
}

function statementOf(waiting: Waiting | undefined): Statement | undefined {
  return waiting !== undefined && 'query' in waiting.job ? waiting.job : undefined;
}
