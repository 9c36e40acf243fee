import { Kysely, MysqlDialect, sql } from 'kysely';
import mysql from 'mysql2';
import { fillTasks, type Tables } from '../ownership.js';

const SCHEMA = 'transition_ownership_bench';

/** A server, with a database of its own for each contender. */
export class MysqlServer {
  readonly #url: string;
  readonly #open: (() => Promise<unknown>)[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** One connection by the driver alone, in the database of a name. */
  async connection(name: string) {
    const connection = mysql.createConnection(this.#in(name)).promise();
    this.#open.push(() => connection.end());
    await connection.connect();
    return connection;
  }

  /** Kysely over a pool of one connection, in a fresh database of that name with the tasks in it. */
  async kysely(name: string, onQuery?: (text: string) => void): Promise<Kysely<Tables>> {
    const admin = mysql.createConnection(this.#url).promise();
    await admin.query(`drop database if exists ${schemaOf(name)}`);
    await admin.query(`create database ${schemaOf(name)}`);
    this.#open.push(async () => {
      await admin.query(`drop database ${schemaOf(name)}`);
      await admin.end();
    });
    const pool = mysql.createPool({ uri: this.#in(name), connectionLimit: 1 });
    const db = new Kysely<Tables>({
      dialect: new MysqlDialect({ pool }),
      ...(onQuery && { log: ({ query }) => onQuery(query.sql) }),
    });
    this.#open.push(() => db.destroy());
    await sql`create table tasks (id bigint primary key, stage varchar(255) not null, updated_at datetime(3))`.execute(
      db,
    );
    await fillTasks(db);
    return db;
  }

  /** What a commit is worth here. */
  async durability(name: string): Promise<string> {
    const connection = await this.connection(name);
    const [rows] = await connection.query<mysql.RowDataPacket[]>(
      'select version() as version, @@innodb_flush_log_at_trx_commit as flush, @@log_bin as log',
    );
    const [settings] = rows;
    return `MySQL or MariaDB ${settings?.['version']}, innodb_flush_log_at_trx_commit ${settings?.['flush']}, binary log ${settings?.['log'] ? 'on' : 'off'}`;
  }

  #in(name: string): string {
    const url = new URL(this.#url);
    url.pathname = `/${schemaOf(name)}`;
    return url.href;
  }

  /** Closes everything, in the order in which it can go, and drops the databases. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#open.reverse()) await close();
  }
}

function schemaOf(name: string): string {
  return `${SCHEMA}_${name}`;
}
