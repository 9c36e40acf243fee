import { type Kysely, sql } from 'kysely';
import { expect } from 'vitest';
import type { ContractTables } from '../contract/store.js';

type Database = Kysely<ContractTables>;

type Server = 'postgres' | 'mysql';

/** Where the library's tables are. */
export interface Where {
  readonly schema: string;
  readonly table: string;
}

const named = ({ schema, table }: Where) => sql.id(schema, table);

/** Makes a lease table of the first shape: seven columns, the task its key, and two leases in it. */
export async function makeFirstShape(db: Database, where: Where): Promise<void> {
  await sql`create table ${named(where)} (task_id bigint not null primary key, owner varchar(40) not null,
    owner_pid bigint, owner_boot_id varchar(40), run_id bigint, stage varchar(40), acquired_at varchar(40))`.execute(
    db,
  );
  await sql`insert into ${named(where)} values (7, 'monitor', 41, 'boot', 2, 'deploy', '2026-01-02 03:04:05'),
    (8, 'reaper', null, null, null, null, null)`.execute(db);
}

/** Removes every table that the library may have made there. */
export async function dropOwn(db: Database, { schema, table }: Where): Promise<void> {
  const names = [table, `${table}_replacement`, `${table}_retired`, 'transition_effect'];
  await sql`drop table if exists ${sql.join(names.map((name) => sql.id(schema, name)))}`.execute(db);
}

/** Every table that the library made there, by name: all that the server says of it but its rows. */
export async function schemaOf(db: Database, { schema, table }: Where, server: Server): Promise<object> {
  const tables = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = ${schema} and (table_name like ${`${table}%`} or table_name = 'transition_effect')
    order by 1`.execute(db);
  const described = tables.rows.map(
    async ({ name }) => [name, await tableOf(db, { schema, table: name }, server)] as const,
  );
  return Object.fromEntries(await Promise.all(described));
}

async function tableOf(db: Database, where: Where, server: Server): Promise<unknown> {
  if (server === 'mysql') {
    const { rows } = await sql<Record<string, string>>`show create table ${named(where)}`.execute(db);
    return rows[0]?.['Create Table']?.replace(/ AUTO_INCREMENT=\d+/, '');
  }
  const { schema, table } = where;
  const columns = await sql`select column_name, data_type, collation_name, is_nullable, column_default, is_identity
    from information_schema.columns where table_schema = ${schema} and table_name = ${table}
    order by ordinal_position`.execute(db);
  const keys = await sql`select conname, pg_get_constraintdef(oid) as is from pg_constraint
    where conrelid = ${`${schema}.${table}`}::regclass order by 1`.execute(db);
  return [...columns.rows, ...keys.rows];
}

/** The tasks of a lease table, after a look at what an upgrade must have put into each of its rows. */
export async function upgradedTasks(db: Database, where: Where): Promise<number[]> {
  const { rows } = await sql<Record<string, string>>`select task_id, owner, owner_pid, owner_boot_id, run_id, stage,
    fencing_token, claim, acquired_ms, expires_ms, ttl_ms from ${named(where)} order by task_id`.execute(db);
  for (const { claim, acquired_ms, expires_ms, ttl_ms } of rows) {
    expect(String(claim)).toMatch(/^[0-9a-f-]{36}$/);
    expect(Number(ttl_ms)).toBe(30_000);
    expect(Math.abs(Number(expires_ms) - Number(acquired_ms) - 30_000)).toBeLessThan(1_000);
    expect(Math.abs(Number(acquired_ms) - Date.now())).toBeLessThan(60_000);
  }
  for (const column of ['claim', 'fencing_token']) {
    expect(new Set(rows.map((row) => row[column])).size).toBe(rows.length);
  }
  if (rows.length > 0) {
    const carried = rows.map((row) => [row['owner'], row['owner_boot_id'], Number(row['owner_pid']), row['stage']]);
    expect(carried).toEqual([
      ['monitor', 'boot', 41, 'deploy'],
      ['reaper', null, 0, null],
    ]);
  }
  return rows.map(({ task_id }) => Number(task_id));
}
