import { sql } from 'kysely';
import { type Finding, finding } from '../core/finding.js';
import type { Fragment, NamedTable } from './dialect.js';
import type { SettingsCheck } from './looking.js';
import { firstInPath } from './postgres-catalogue.js';
import { READ_ONLY, STALE_READS, unbounded } from './session-findings.js';

/** The settings of a PostgreSQL session and server. */
export const postgresSettings: SettingsCheck = Object.freeze<SettingsCheck>({
  read: ({ tokens, lease, bound }): Fragment => {
    const milliseconds = (date: Date): Fragment =>
      sql`cast(extract(epoch from ${date}::${
        bound?.as === 'utc' ? sql`timestamp at time zone 'UTC'` : sql`timestamptz`
      }) * 1000 as bigint)`;
    const [one, other] = bound?.dates ?? [];
    return sql`select current_setting('synchronous_commit') as synchronous_commit,
      current_setting('transaction_read_only') as read_only, pg_is_in_recovery()::text as standby,
      current_setting('TimeZone') as zone, current_setting('idle_in_transaction_session_timeout') as idle_timeout,
      current_setting('statement_timeout') as statement_timeout
      ${tokens === undefined ? sql`` : sql`, (select max(fencing_token)::text from ${tokens}) as token, ${lastToken(lease)}`}
      ${one && other ? sql`, ${milliseconds(one)} as bound_one, ${milliseconds(other)} as bound_other` : sql``}`;
  },

  // By its name: where the offset is none now, it may be one in summer.
  isUtc: ({ zone = 'UTC' }) => /^((Etc\/)?(UTC|UCT|GMT|Zulu|Universal|Greenwich|GMT[+-]?0)|Z|<\+00>-00)$/i.test(zone),

  judge: (settings, { lease }) => {
    const { synchronous_commit: synchronous, read_only: readOnly, standby } = settings;
    const found: Finding[] = [POOL];
    if (synchronous === 'off') {
      found.push(
        finding(
          'commits-not-durable',
          'advice',
          'synchronous_commit is off: a crash of the server may take back an acknowledged acquisition. Set it to on for these sessions.',
        ),
      );
    }
    if (readOnly === 'on' || standby === 'true') found.push(READ_ONLY);
    if (standby === 'true') found.push(STALE_READS);
    found.push(...unbounded(settings));
    const { token = '0', last_token: last = '0', may_look: mayLook } = settings;
    if (mayLook === 'true' && BigInt(token) > BigInt(last)) {
      const table = `'${lease.schema === undefined ? '' : `${lease.schema}.`}${lease.table}'`;
      const named = table.slice(1, -1);
      found.push(
        finding(
          'identity-behind',
          'warning',
          `The next fencing token is one that a lease has already, as after a restore: run select setval(pg_get_serial_sequence(${table}, 'fencing_token'), (select max(fencing_token) from ${named})).`,
          named,
        ),
      );
    }
    return found;
  },
});

/** The number that the identity of the lease table gave last, where this user may see it. */
const lastToken = ({ schema, table }: NamedTable): Fragment => sql`
  (select case when has_sequence_privilege(own.id, 'select, usage') then pg_sequence_last_value(own.id)::text end
    from (select ${ofLease(schema, table)} as id) as own where own.id is not null) as last_token,
  has_sequence_privilege(${ofLease(schema, table)}, 'select')::text as may_look`;

const ofLease = (schema: string | undefined, table: string): Fragment => sql`
  (select min(s.oid::bigint)::oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_depend d on d.refobjid = c.oid and d.deptype in ('i', 'a') join pg_class s on s.oid = d.objid and s.relkind = 'S'
    where c.relname = ${table} and n.nspname = ${schema === undefined ? firstInPath(sql`${table}`) : sql`${schema}`})`;

const POOL = finding(
  'pool-error-listener',
  'advice',
  "A session that the server ends while it is idle raises an 'error' event on the pool, and on its client inside a transaction: attach a listener to each, or the process ends.",
);
