import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Sqlite from 'better-sqlite3';
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import type * as mysql from 'mysql2';
import type pg from 'pg';
import type { Kind, Order } from './arguments.js';
import { Failed } from './failed.js';

/** A handle whose tables only the configuration knows. */
export type Database = Kysely<Record<string, never>>;

/** Opens the database of an order, a file for reading alone unless the order says otherwise; nothing is made and no setting changed. */
export async function openDatabase(
  { kind, place }: Pick<Order, 'kind' | 'place'>,
  writing: boolean,
): Promise<Database> {
  return new Kysely({ dialect: await OPEN[kind](place, writing) });
}

const OPEN: Readonly<Record<Kind, (place: string, writing: boolean) => Promise<Dialect>>> = {
  /** Not by `openSqlite`, which makes the file and switches it to WAL. */
  sqlite: async (file, writing) => {
    if (!existsSync(file)) throw new Failed(`There is no file ${file}.`);
    const Opener = await driver<typeof Sqlite>('better-sqlite3', 'sqlite');
    try {
      const database = new Opener(file, { readonly: !writing, fileMustExist: true, timeout: 250 });
      // Of this connection alone: a power cut takes back nothing that was reported to an operator.
      database.pragma('synchronous = full');
      return new SqliteDialect({ database });
    } catch (error) {
      throw new Failed(`${file} cannot be opened: ${error instanceof Error ? error.message : String(error)}.`);
    }
  },
  postgres: async (url) => {
    const { Pool } = await driver<typeof pg>('pg', 'postgres');
    const pool = new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 10_000 });
    // What breaks while it is idle is reported by the next statement.
    pool.on('error', () => undefined);
    return new PostgresDialect({ pool });
  },
  mysql: async (url) => {
    const { createPool } = await driver<typeof mysql>('mysql2', 'mysql');
    return new MysqlDialect({ pool: createPool({ uri: url, connectionLimit: 1 }) });
  },
};

/** Loads a driver from the project in whose folder the tool is run, or else from beside the tool. */
export async function driver<T>(name: string, option: Kind): Promise<T> {
  const project = createRequire(join(process.cwd(), 'package.json'));
  try {
    const loaded = (await import(resolved(project, name))) as { readonly default: T };
    return loaded.default;
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Failed(`--${option} needs the package ${name}: npm install ${name}.`);
  }
}

function resolved(project: NodeJS.Require, name: string): string {
  try {
    return pathToFileURL(project.resolve(name)).href;
  } catch {
    return name;
  }
}

/** Takes the password of a URL, and the URL itself, out of what is reported. */
export function withoutSecrets(text: string, { place }: Pick<Order, 'place'>): string {
  const password = /^\w+:\/\/[^:@/]*:(.*)@/s.exec(place)?.[1];
  const named = [...place.matchAll(/[?&](?:password|passwd|pass)=([^&]*)/gi)].map((match) => match[1]);
  const secrets = [password, ...named].filter((secret) => secret !== undefined && secret !== '') as string[];
  const spellings = place.includes('://') ? [place, ...secrets, ...secrets.map(decoded)] : [];
  return spellings.reduce((told, secret) => told.replaceAll(secret, '***'), text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
