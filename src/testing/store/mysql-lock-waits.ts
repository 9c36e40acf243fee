import type { Row } from './store.js';

/**
 * Which connections wait for a lock, as the server tells at this moment.
 *
 * `information_schema.innodb_trx` would say so in one column, but the server refreshes it at most every 100 ms and
 * says of a statement what was true of the one before: the report of the engine is never old.
 */
export async function lockWaits(
  query: (text: string) => Promise<readonly Row[]>,
  connections: readonly number[],
): Promise<ReadonlySet<number>> {
  const [report] = await query('show engine innodb status');
  const waiting = new Set(rowLockWaits(String(report?.['Status'])));
  for (const { id } of await query(
    `select id from information_schema.processlist where id in (${connections.join(', ')}) and (state like 'Waiting for%lock' or state = 'User lock')`,
  )) {
    waiting.add(Number(id));
  }
  return waiting;
}

/** The connections of the transactions in the engine's report that are marked `LOCK WAIT`. */
export function rowLockWaits(report: string): number[] {
  return report
    .split(/^---TRANSACTION /m)
    .slice(1)
    .filter((transaction) => /^LOCK WAIT /m.test(transaction))
    .map((transaction) => Number(/thread id (\d+)/.exec(transaction)?.[1]));
}
