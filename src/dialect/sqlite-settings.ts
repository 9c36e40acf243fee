import { sql } from 'kysely';
import { type Finding, finding } from '../core/finding.js';
import type { Fragment } from './dialect.js';
import type { SettingsCheck } from './looking.js';
import { READ_ONLY } from './session-findings.js';

const NETWORK = /^(nfs|cifs|smb|9p|fuse|afs|ceph|glusterfs|virtiofs|vboxsf)/;

/** The settings of an SQLite connection and file. */
export const sqliteSettings: SettingsCheck = Object.freeze<SettingsCheck>({
  read: ({ lease }): Fragment => sql`select
    (select journal_mode from pragma_journal_mode) as journal_mode,
    (select synchronous from pragma_synchronous) as synchronous,
    (select timeout from pragma_busy_timeout) as busy_timeout,
    (select query_only from pragma_query_only) as query_only,
    (select file from pragma_database_list where name = ${lease.schema ?? 'main'} collate nocase) as file`,

  isUtc: () => true,

  judge: ({ journal_mode: journal, synchronous, busy_timeout: busy, file_system: system, ...more }, needs) => {
    const found: Finding[] = [];
    if (more['query_only'] === '1') found.push(READ_ONLY);
    if (journal === 'wal' && Number(synchronous) < 2) {
      found.push(
        finding(
          'commits-not-durable',
          'warning',
          'This connection writes a WAL with synchronous=NORMAL: a power cut may take back an acknowledged acquisition. Set synchronous=FULL on every connection, as openSqlite does.',
        ),
      );
    } else if (Number(synchronous) === 0) {
      found.push(
        finding(
          'commits-not-durable',
          'warning',
          'This connection has synchronous=OFF: a crash may corrupt the file. Set synchronous=FULL.',
        ),
      );
    }
    const maxMs = Math.floor(needs.ttlMs / 3);
    if (Number(busy) >= maxMs) {
      found.push(
        finding(
          'busy-timeout-too-long',
          'warning',
          `The busy timeout of ${Number(busy)} ms blocks the event loop, and with it renewals, for a third of the TTL of ${needs.ttlMs} ms or more. Set at most 250 ms: the library waits between statements by itself.`,
        ),
      );
    }
    if (journal === 'wal' && system !== undefined && NETWORK.test(system)) {
      found.push(
        finding(
          'network-file-system',
          'error',
          `The file is on ${system}: a WAL works among processes of one host and on a local disk only. Use a local disk, or PostgreSQL.`,
        ),
      );
    }
    return found;
  },
});
