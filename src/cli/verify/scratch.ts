import { rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely';
import type * as mysql from 'mysql2';
import type pg from 'pg';
import type { TestStore } from 'transition-ownership/testing';
import { rowLockWaits } from '../../testing/store/mysql-lock-waits.js';
import type { Kind, Order } from '../arguments.js';
import { driver } from '../database.js';
import { Failed } from '../failed.js';

/** The tables that the tool makes for itself. */
export interface Tables {
  readonly tasks: { readonly id: number; readonly stage: string };
}

export type Handle = Kysely<Tables>;

/** Where it is made, and how it is called: all that a process of its own needs to know. */
export interface Site extends Pick<Order, 'kind' | 'place'> {
  readonly name: string;
}

/** A place on the engine of the user that is the tool's own, and is dropped at the end. */
export interface Scratch {
  readonly site: Site;
  make(): Promise<void>;
  remove(): Promise<void>;
  /** The engine and its version, and the isolation of transactions that ask for none. */
  describe(db: Handle): Promise<{ readonly engine: string; readonly level: string }>;
  /** How many sessions of this place wait for a lock; `undefined` where the engine has one writer. */
  readonly waits: ((db: Handle) => Promise<number>) | undefined;
  /** The store of the contract, at a level. */
  store(level: string): Promise<TestStore>;
}

/** The place for an order; nothing is made yet. */
export function scratchFor(order: Pick<Order, 'kind' | 'place'>): Scratch {
  const name = `transition_ownership_verify_${Math.random().toString(36).slice(2, 10)}`;
  return SCRATCHES[order.kind]({ ...order, name });
}

/** Opens a handle on the place, of a process of its own. */
export async function openSite({ kind, place, name }: Site, sessions: number): Promise<Handle> {
  if (kind === 'sqlite') {
    const { openSqlite } = await sqliteOf(import('transition-ownership/sqlite'));
    return new Kysely({ dialect: openSqlite(fileOf({ kind, place, name })) });
  }
  if (kind === 'postgres')
    return new Kysely({ dialect: new PostgresDialect({ pool: await postgresPool(place, sessions, name) }) });
  const { createPool } = await driver<typeof mysql>('mysql2', 'mysql');
  return new Kysely({
    dialect: new MysqlDialect({ pool: createPool({ uri: place, database: name, connectionLimit: sessions }) }),
  });
}

const fileOf = ({ place, name }: Site): string => join(dirname(resolve(place)), `${name}.sqlite`);

async function postgresPool(url: string, max: number, schema?: string): Promise<pg.Pool> {
  const { Pool } = await driver<typeof pg>('pg', 'postgres');
  const pool = new Pool({ connectionString: url, max, connectionTimeoutMillis: 10_000 });
  pool.on('error', () => undefined);
  // Queued before all that the pool sends on it.
  if (schema !== undefined) {
    pool.on('connect', (client) => {
      client.query(`set search_path to ${schema}; set application_name to '${schema}'`).catch(() => undefined);
    });
  }
  return pool;
}

async function sqliteOf<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Failed('--sqlite needs the package better-sqlite3: npm install better-sqlite3.');
  }
}

const SCRATCHES: Readonly<Record<Kind, (site: Site) => Scratch>> = {
  sqlite: (site) => ({
    site,
    make: async () => undefined,
    remove: async () => {
      for (const end of ['', '-wal', '-shm', '-contract', '-contract-wal', '-contract-shm'])
        rmSync(`${fileOf(site)}${end}`, { force: true });
    },
    describe: async (db) => {
      const version = await one(sql<string>`select sqlite_version() as value`, db);
      return { engine: `SQLite ${version}`, level: 'one writer at a time' };
    },
    waits: undefined,
    store: async () => {
      const { sqliteFileStore } = await import('transition-ownership/testing');
      return sqliteFileStore({ path: `${fileOf(site)}-contract` });
    },
  }),

  postgres: (site) => ({
    site,
    make: () => admin(site, sql`create schema ${sql.id(site.name)}`),
    remove: () => admin(site, sql`drop schema if exists ${sql.id(site.name)} cascade`),
    describe: async (db) => {
      const engine = await one(sql<string>`select version() as value`, db);
      const level = await one(sql<string>`select current_setting('default_transaction_isolation') as value`, db);
      return { engine: engine.split(/ on | \(/)[0] ?? engine, level };
    },
    waits: async (db) =>
      Number(
        await one(
          sql<string>`select count(*) as value from pg_stat_activity
            where application_name = ${site.name} and cardinality(pg_blocking_pids(pid)) > 0`,
          db,
        ),
      ),
    store: async (level) => {
      const { postgresStore } = await import('transition-ownership/testing');
      const { Client } = await driver<typeof pg>('pg', 'postgres');
      const connect = async () => {
        const client = new Client({ connectionString: site.place });
        await client.connect();
        return client;
      };
      const isolation = level === 'repeatable read' || level === 'serializable' ? level : 'read committed';
      return postgresStore({ connect, isolation });
    },
  }),

  mysql: (site) => ({
    site,
    make: () => admin(site, sql`create database ${sql.id(site.name)}`),
    remove: () => admin(site, sql`drop database if exists ${sql.id(site.name)}`),
    describe: async (db) => {
      const version = await one(sql<string>`select version() as value`, db);
      const level = await one(sql<string>`select @@transaction_isolation as value`, db).catch(() =>
        one(sql<string>`select @@tx_isolation as value`, db),
      );
      const engine = /mariadb|tidb|vitess/i.test(version) ? version : `MySQL ${version}`;
      return { engine, level: level.toLowerCase().replaceAll('-', ' ') };
    },
    waits: async (db) => {
      const { rows } = await sql<{
        id: unknown;
      }>`select id from information_schema.processlist where db = ${site.name}`.execute(db);
      const report = await sql<{ Status: string }>`show engine innodb status`.execute(db);
      const waiting = new Set(rowLockWaits(String(report.rows[0]?.Status)));
      return rows.filter(({ id }) => waiting.has(Number(id))).length;
    },
    store: async () => {
      const { mysqlStore } = await import('transition-ownership/testing');
      const { createConnection } = await driver<typeof mysql>('mysql2', 'mysql');
      return mysqlStore({ connect: () => createConnection(site.place) });
    },
  }),
};

type Query = ReturnType<typeof sql<unknown>>;

async function one<T>(query: ReturnType<typeof sql<T>>, db: Handle): Promise<T> {
  const { rows } = await (query as unknown as ReturnType<typeof sql<{ value: T }>>).execute(db);
  const [row] = rows;
  if (row === undefined) throw new Failed('The database returns no row where it must.');
  return row.value;
}

/** Sends one statement past the place, which is not there yet or no longer. */
async function admin({ kind, place }: Site, statement: Query): Promise<void> {
  const dialect =
    kind === 'postgres'
      ? new PostgresDialect({ pool: await postgresPool(place, 1) })
      : new MysqlDialect({
          pool: (await driver<typeof mysql>('mysql2', 'mysql')).createPool({ uri: place, connectionLimit: 1 }),
        });
  const db: Handle = new Kysely({ dialect });
  try {
    await statement.execute(db);
  } finally {
    await db.destroy();
  }
}
