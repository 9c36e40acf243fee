import { sql } from 'kysely';
import type { Dialect } from './dialect.js';
import type { TransactionLevel } from './statement-parts.js';

const MARK = sql.id('transition_ownership_look');

/**
 * The level of a transaction is in no variable where it was set for that transaction alone: only the engine knows it.
 *
 * The engine knows of a transaction that has read nothing once a savepoint is set in it, and it takes part only if a
 * table of its was opened; a condition that cannot be true opens the table and reads no row. What it tells is up to
 * 100 ms old if somebody else has asked: it tells the text of our own statement too, and that has a mark.
 */
export const mysqlLevel: TransactionLevel = Object.freeze<TransactionLevel>({
  enter: (table) => [sql`select 1 from ${table} where 1 = 0`, sql`savepoint ${MARK}`, sql`release savepoint ${MARK}`],
  read: (mark) =>
    sql`select trx_isolation_level as level, trx_query as query from information_schema.innodb_trx
      where trx_mysql_thread_id = connection_id() /* ${sql.raw(mark)} */`,
  seesLatest: ({ level, query }, mark) => (query.includes(mark) ? /^READ[ -](UN)?COMMITTED$/.test(level) : undefined),
});

/** Transactions that have rows locked: the engine tells which rows only while somebody waits for them. */
export const mysqlLockHolders: NonNullable<Dialect['lockHolders']> = () =>
  sql`select concat('connection ', trx_mysql_thread_id, ', in a transaction since ', trx_started) as holder
    from information_schema.innodb_trx where trx_rows_locked > 0 and trx_mysql_thread_id <> connection_id()
    order by trx_started limit 5`;

/** MariaDB alone has a setting for one statement; MySQL passes over it, and its own wait is 50 s unless it is set. */
export function boundMysqlWait(insert: string, ms: number): string {
  const seconds = Math.min(Math.max(1, Math.ceil(ms / 1000)), 1_000_000);
  const bound = `innodb_lock_wait_timeout = least(@@innodb_lock_wait_timeout, ${seconds})`;
  return `/*M!100201 set statement ${bound} for */ ${insert}`;
}
