import { sql } from 'kysely';
import { type Finding, finding } from '../core/finding.js';
import type { Fragment, SettingsCheck } from './dialect.js';

/** The settings of a MySQL or MariaDB session and server, and what it knows of the caller's tasks. */
export const mysqlSettings: SettingsCheck = Object.freeze<SettingsCheck>({
  read: ({ tasks }): Fragment => {
    const schema = tasks.schema ?? sql`database()`;
    return sql`select @@sql_mode as sql_mode, @@innodb_flush_log_at_trx_commit as flush_log, @@read_only as read_only,
      timestampdiff(second, utc_timestamp(), now()) as offset_s,
      (select engine from information_schema.tables
        where table_schema = ${schema} and table_name = ${tasks.table}) as engine,
      (select min(trigger_name) from information_schema.triggers where event_object_schema = ${schema}
        and event_object_table = ${tasks.table} and action_timing = 'BEFORE' and event_manipulation = 'UPDATE') as before_update,
      (select data_type from information_schema.columns where table_schema = ${schema} and table_name = ${tasks.table}
        and column_name = ${tasks.updatedAt ?? ''}) as updated_at_type`;
  },

  judge: (settings, needs) => {
    const found: Finding[] = [POOL];
    const { sql_mode: mode = '', flush_log: flush, read_only: readOnly, engine, before_update: trigger } = settings;
    if (mode.includes('NO_BACKSLASH_ESCAPES')) {
      found.push(
        finding(
          'backslashes-not-escapes',
          'error',
          'sql_mode has NO_BACKSLASH_ESCAPES, and mysql2 escapes by backslashes: text with quotes would be changed or break out. Take it out of the sql_mode of these sessions.',
        ),
      );
    }
    if (flush !== '1') {
      found.push(
        finding(
          'commits-not-durable',
          'warning',
          `innodb_flush_log_at_trx_commit is ${String(flush)}: a crash may take back an acknowledged acquisition. Set it to 1.`,
        ),
      );
    }
    if (readOnly !== '0' && readOnly !== 'OFF') {
      found.push(
        finding(
          'read-only',
          'error',
          'The server is read-only: nothing can be acquired there, and what it tells may be old. Connect to the primary.',
        ),
      );
    }
    if (engine !== undefined && !/^innodb$/i.test(engine)) {
      found.push(
        finding(
          'no-row-locks',
          'error',
          `The tasks are in a table of the engine ${engine}, without transactions and row locks: no fence holds there. Convert it to InnoDB.`,
        ),
      );
    }
    if (trigger !== undefined) {
      found.push(
        finding(
          'trigger-unseen',
          'advice',
          `The trigger ${trigger} runs before each update of the tasks: a stage that it rewrites is told as written, for this database gives no rows back.`,
        ),
      );
    }
    if (needs.timeFormat === 'native' && settings['updated_at_type'] === 'timestamp' && settings['offset_s'] !== '0') {
      found.push(
        finding(
          'zone-bearing-column',
          'warning',
          `The column ${JSON.stringify(needs.tasks.updatedAt)} is a TIMESTAMP, written in UTC and read in the zone of the session. Set the time_zone of these sessions to '+00:00', or make it a DATETIME(3).`,
        ),
      );
    }
    return found;
  },
});

const POOL = finding(
  'pool-error-listener',
  'advice',
  "A session that the server ends raises an 'error' event on its connection: attach a listener to each connection of the pool, or the process may end.",
);
