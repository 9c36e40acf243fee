import { type CompiledQuery, sql } from 'kysely';
import type { IdType, IdValue } from '../core/id.js';
import type { NamedTable } from '../dialect/dialect.js';
import type { Session } from './session.js';
import { tableName } from './tables.js';

const TOKEN = sql.id('fencing_token');
const COLUMNS = sql.join(
  ['fencing_token', 'claim', 'task_id', 'owner', 'acquired_ms', 'expires_ms', 'ttl_ms'].map((name) => sql.id(name)),
);

/** Moves the identity where a statement can; `undefined` where a row has to. */
export function moveIdentity(
  { database, dialect }: Session,
  named: NamedTable,
  beyond: number,
): CompiledQuery | undefined {
  return dialect.moveIdentity?.(named, TOKEN, sql`${beyond}`).compile(database);
}

/** A row that carries a number, of a task that no one has. */
export interface TokenRow {
  readonly beyond: number;
  readonly claim: string;
  readonly taskId: IdValue;
}

/** Inserts such a row, unless one has the number already. */
export function insertToken(
  { database, dialect }: Session,
  { schema, table }: NamedTable,
  row: TokenRow,
): CompiledQuery {
  const { beyond, claim, taskId } = row;
  const now = dialect.nowMs;
  return dialect
    .insertFree({
      table: tableName(schema, table),
      columns: COLUMNS,
      key: [{ column: TOKEN, value: sql`${beyond}` }],
      rows: sql`select ${beyond}, ${claim}, ${taskId}, 'advance-fencing-token', ${now}, ${now}, 1 from (select 1 as one) as given`,
    })
    .compile(database);
}

/** The id of a task that no one has. */
export function nobodysTask(type: IdType, claim: string): IdValue {
  if (type === 'text') return claim;
  return type === 'bigint' ? BigInt(Number.MIN_SAFE_INTEGER) : Number.MIN_SAFE_INTEGER;
}
