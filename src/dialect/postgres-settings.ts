import { sql } from 'kysely';
import { type Finding, finding } from '../core/finding.js';
import type { Fragment, SettingsCheck } from './dialect.js';

/** The settings of a PostgreSQL session and server. */
export const postgresSettings: SettingsCheck = Object.freeze<SettingsCheck>({
  read: (): Fragment => sql`select current_setting('synchronous_commit') as synchronous_commit,
    current_setting('transaction_read_only') as read_only, pg_is_in_recovery()::text as standby`,

  judge: ({ synchronous_commit: synchronous, read_only: readOnly, standby }) => {
    const found: Finding[] = [POOL];
    if (synchronous === 'off') {
      found.push(
        finding(
          'commits-not-durable',
          'warning',
          'synchronous_commit is off: a crash of the server may take back an acknowledged acquisition. Set it to on for these sessions.',
        ),
      );
    }
    if (readOnly === 'on' || standby === 'true') {
      found.push(
        finding(
          'read-only',
          'error',
          'The session is read-only or on a standby: nothing can be acquired there, and what it tells may be old. Connect to the primary.',
        ),
      );
    }
    return found;
  },
});

const POOL = finding(
  'pool-error-listener',
  'advice',
  "A session that the server ends while it is idle raises an 'error' event on the pool, and on its client inside a transaction: attach a listener to each, or the process ends.",
);
