import { lockWaits } from './mysql-lock-waits.js';
import { calledFunctions, type KnownPure, wellKnown } from './only-reads.js';
import { answering, following, ownName, type Server, type Session } from './server-sessions.js';
import { type Row, realClockColumns } from './store.js';

/** What is used of a connection of mysql2 (of `mysql2`, not of `mysql2/promise`). */
export interface MysqlClient {
  /** Sends a statement. */
  query(text: string, values: unknown, callback: (error: Error | null, rows: unknown) => void): unknown;
  /** Hangs up at once. */
  destroy(): void;
  /** Hears of a connection that was ended by the server. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** One connection, and how a statement is sent on it. */
export interface MysqlSession extends Session {
  readonly client: MysqlClient;
  /** Sends a statement, with the virtual clock set. */
  send(text: string, values: readonly unknown[]): Promise<unknown>;
}

/** How the server is reached. */
export interface MysqlServerOptions {
  readonly connect: () => MysqlClient | Promise<MysqlClient>;
  readonly isolation?: string;
  readonly ignoreColumns?: readonly string[];
}

/** The server behind `mysqlStore`. */
export class MysqlServer implements Server<MysqlSession> {
  readonly database = ownName();
  nowMs = 0;
  known: KnownPure = wellKnown;
  private readonly options: MysqlServerOptions;
  private first: Promise<MysqlSession> | undefined;
  private tables: readonly { readonly name: string; readonly read: string }[] = [];

  constructor(options: MysqlServerOptions) {
    this.options = options;
  }

  admin(): Promise<MysqlSession> {
    this.first ??= this.open(true);
    return this.first;
  }

  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await (await this.admin()).send(text, values)) as readonly Row[];
  }

  async open(first = false): Promise<MysqlSession> {
    const client = await this.options.connect();
    client.on('error', () => undefined);
    const ask = (text: string, values: readonly unknown[] = []) =>
      new Promise<unknown>((resolve, reject) => {
        client.query(text, values, (error, rows) => (error === null ? resolve(rows) : reject(error)));
      });
    if (first) await answering(ask(`create database ${this.database}`));
    await answering(ask(`use ${this.database}`));
    if (this.options.isolation !== undefined) {
      await ask(`set session transaction isolation level ${this.options.isolation}`);
    }
    const [row] = (await ask('select connection_id() as id')) as [{ id: number }];
    let toldMs = -1;
    const session: MysqlSession = {
      id: row.id,
      client,
      inTransaction: false,
      busy: false,
      spoilt: false,
      send: (text, values) =>
        following(session, text, async () => {
          if (toldMs !== this.nowMs) {
            toldMs = this.nowMs;
            await ask(`set @simulated_now_ms = ${toldMs}`);
          }
          return ask(text, values);
        }),
    };
    return session;
  }

  /** Asks for the functions that are made here, which may act, and for the views that call one. */
  async learn(): Promise<void> {
    const routines = await this.query('select routine_name as name from information_schema.routines');
    const made = new Set(routines.map((row) => String(row['name']).toLowerCase()));
    const isPure = (name: string) => wellKnown.isPure(name) && !made.has(name);
    const views = await this.query(
      'select table_name as name, view_definition as definition from information_schema.views where table_schema = database()',
    );
    const impure = views.filter((view) => calledFunctions(String(view['definition'])).some((name) => !isPure(name)));
    this.known = { isPure, impureViews: new Set(impure.map((view) => String(view['name']).toLowerCase())) };
  }

  async terminate({ id, client }: MysqlSession): Promise<void> {
    await this.query(`kill ${id}`).catch(() => undefined);
    for (let gone = false; !gone; ) {
      const left = await this.query('select 1 from information_schema.processlist where id = ?', [id]);
      gone = left.length === 0;
    }
    client.destroy();
  }

  async waiting(sessions: readonly MysqlSession[]): Promise<ReadonlySet<number>> {
    return lockWaits(
      (text) => this.query(text),
      sessions.map((session) => session.id),
    );
  }

  async reset(): Promise<void> {
    const ignored = this.options.ignoreColumns ?? realClockColumns;
    const columns = await this.query(
      `select c.table_name as t, c.column_name as c from information_schema.columns c
        join information_schema.tables b on b.table_schema = c.table_schema and b.table_name = c.table_name
        where c.table_schema = database() and b.table_type = 'BASE TABLE' order by c.table_name, c.ordinal_position`,
    );
    const names = [...new Set(columns.map((column) => String(column['t'])))];
    this.tables = names.map((name) => {
      const own = columns.filter((column) => column['t'] === name);
      const read = own.map((column) => String(column['c'])).filter((column) => !ignored.includes(column));
      const list = read.map((column) => `\`${column}\``).join(', ');
      return {
        name,
        read: `select ${list} from \`${name}\` order by ${read.map((_, at) => at + 1).join(', ')}`,
      };
    });
    await this.query('set foreign_key_checks = 0');
    // DELETE keeps counters, and leaves rows that are purged some time later and until then are locked like others:
    // which of two transactions a deadlock ends would hang on that.
    for (const { name } of this.tables) await this.query(`truncate \`${name}\``);
    await this.query('set foreign_key_checks = 1');
  }

  async snapshot(): Promise<Record<string, readonly Row[]>> {
    const rows: Record<string, readonly Row[]> = {};
    for (const { name, read } of this.tables) rows[name] = (await this.query(read)).map((row) => ({ ...row }));
    rows['counters of ids'] = await this.query(
      'select table_name as t, auto_increment as n from information_schema.tables where table_schema = database() and auto_increment is not null order by 1',
    );
    return rows;
  }
}
