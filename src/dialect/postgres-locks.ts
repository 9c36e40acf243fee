import { sql } from 'kysely';
import type { Dialect } from './dialect.js';
import { firstInPath } from './postgres-catalogue.js';

/** Sessions at a table: whoever has a row of it locked holds a lock on the table too. */
export const postgresLockHolders: NonNullable<Dialect['lockHolders']> = ({ schema, table }) =>
  sql`select distinct 'pid ' || held.pid || coalesce(', ' || nullif(session.application_name, ''), '') || ', ' ||
      coalesce(session.state, 'of another role') || coalesce(' since ' || session.xact_start, '') as holder
      from pg_locks as held join pg_class as named on named.oid = held.relation and named.relname = ${table}
      join pg_namespace as place on place.oid = named.relnamespace
        and (place.nspname = ${schema ?? null}::text or (${schema ?? null}::text is null and place.nspname = ${firstInPath(sql`${table}`)}))
      left join pg_stat_activity as session on session.pid = held.pid
      where held.granted and held.pid <> pg_backend_pid()
        and held.mode in ('RowShareLock', 'RowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
        and held.database = (select oid from pg_database where datname = current_database()) limit 5`;

/**
 * The setting is made for the transaction, so it ends with a statement that is one by itself; in one of the caller's it
 * would stay. It is made where the clock is read, before a row is inserted, and only where the session has none.
 */
export function boundPostgresWait(insert: string, ms: number, inTransaction: boolean): string {
  if (inTransaction) return insert;
  const set = `set_config('lock_timeout', '${Math.min(Math.ceil(ms), 2_147_483_647)}', true)`;
  const bound = `case when current_setting('lock_timeout') = '0' then ${set} end`;
  return insert.replace(' as now_ms) as clock', ` as now_ms, ${bound} as bound) as clock`);
}
