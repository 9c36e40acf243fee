import { sql } from 'kysely';
import { type Finding, finding } from '../core/finding.js';
import type { Fragment } from './dialect.js';
import type { SettingsCheck } from './looking.js';
import { AUTOCOMMIT_OFF } from './mysql-errors.js';
import { mysqlEpoch } from './mysql-times.js';
import { READ_ONLY, STALE_READS, unbounded } from './session-findings.js';

/** The settings of a MySQL or MariaDB session and server, and what it knows of the caller's tasks. */
export const mysqlSettings: SettingsCheck = Object.freeze<SettingsCheck>({
  read: ({ bound }): Fragment => {
    const milliseconds = (date: Date): Fragment => mysqlEpoch(bound?.as ?? 'native', sql`cast(${date} as datetime(3))`);
    const [one, other] = bound?.dates ?? [];
    return sql`select @@sql_mode as sql_mode, @@innodb_flush_log_at_trx_commit as flush_log, @@read_only as read_only,
      /*!80000 @@session.transaction_read_only */ /*M!100000 @@session.tx_read_only */ as reads_only,
      @@session.autocommit as autocommit
      /*M!100300 , @@idle_transaction_timeout as idle_timeout, @@max_statement_time + 0e0 as statement_timeout */
      ${one && other ? sql`, ${milliseconds(one)} as bound_one, ${milliseconds(other)} as bound_other` : sql``}`;
  },

  isUtc: () => true,

  judge: (settings) => {
    const found: Finding[] = [POOL];
    const { sql_mode: mode = '', flush_log: flush } = settings;
    if (settings['autocommit'] === '0') found.push(AUTOCOMMIT_OFF);
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
          'advice',
          `innodb_flush_log_at_trx_commit is ${String(flush)}: a crash may take back an acknowledged acquisition. Set it to 1.`,
        ),
      );
    }
    if ([settings['read_only'], settings['reads_only']].some((is) => is === '1' || is === 'ON')) {
      found.push(READ_ONLY, STALE_READS);
    }
    if (!/STRICT_(TRANS|ALL)_TABLES/.test(mode)) {
      found.push(
        finding(
          'not-strict',
          'warning',
          'The sql_mode is not strict: text that does not fit is cut without an error. Add STRICT_TRANS_TABLES, or keep the columns wide.',
        ),
      );
    }
    found.push(...unbounded(settings));
    return found;
  },
});

const POOL = finding(
  'pool-error-listener',
  'advice',
  "A session that the server ends raises an 'error' event on its connection: attach a listener to each connection of the pool, or the process may end.",
);
