import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { fillTasks, type Tables } from '../ownership.js';

const SCHEMA = 'transition_ownership_bench';

/** A server, with a schema of the bench's own for each of two contenders. */
export class PostgresServer {
  readonly #url: string;
  readonly #open: (() => Promise<unknown>)[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** One connection by the driver alone, in the schema of a name. */
  async client(name: string): Promise<pg.Client> {
    const client = new pg.Client(this.#options(name));
    await client.connect();
    this.#open.push(() => client.end());
    return client;
  }

  /** Kysely over a pool of one connection, in a fresh schema of that name with the tasks in it. */
  async kysely(name: string, onQuery?: (text: string) => void): Promise<Kysely<Tables>> {
    const admin = new pg.Client(this.#url);
    await admin.connect();
    await admin.query(`drop schema if exists ${schemaOf(name)} cascade`);
    await admin.query(`create schema ${schemaOf(name)}`);
    this.#open.push(async () => {
      await admin.query(`drop schema ${schemaOf(name)} cascade`);
      await admin.end();
    });
    const pool = new pg.Pool({ ...this.#options(name), max: 1 });
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      ...(onQuery && { log: ({ query }) => onQuery(query.sql) }),
    });
    this.#open.push(() => db.destroy());
    await sql`create table tasks (id bigint primary key, stage text not null, updated_at timestamptz)`.execute(db);
    await fillTasks(db);
    return db;
  }

  /** What a commit is worth here. */
  async durability(): Promise<string> {
    const client = await this.client('settings');
    const { rows } = await client.query<{ version: string; fsync: string; commit: string }>(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
        current_setting('synchronous_commit') as commit`,
    );
    const [settings] = rows;
    return `PostgreSQL ${settings?.version}, fsync ${settings?.fsync}, synchronous_commit ${settings?.commit}`;
  }

  #options(name: string) {
    return { connectionString: this.#url, options: `-c search_path=${schemaOf(name)}` };
  }

  /** Closes everything, in the order in which it can go, and drops the schemas. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#open.reverse()) await close();
  }
}

function schemaOf(name: string): string {
  return `${SCHEMA}_${name}`;
}
