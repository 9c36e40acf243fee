import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, type KyselyPlugin, sql } from 'kysely';
import { openSqlite } from 'transition-ownership/sqlite';

/** One SQLite file in a folder of its own, opened as users open theirs. */
export class TestFile<DB> implements AsyncDisposable {
  readonly db: Kysely<DB>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'ownership-'));
  readonly #opened: Kysely<DB>[] = [];

  constructor() {
    this.db = this.open();
  }

  /** Opens the file once more, as another process would. */
  open(...plugins: KyselyPlugin[]): Kysely<DB> {
    const db = new Kysely<DB>({ dialect: openSqlite(join(this.#folder, 'orchestrator.sqlite')), plugins });
    this.#opened.push(db);
    return db;
  }

  /** Runs statements as they stand. */
  async run(...statements: readonly string[]): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(this.db);
  }

  /** Reads rows as they stand. */
  async read(query: string): Promise<Record<string, unknown>[]> {
    return (await sql.raw<Record<string, unknown>>(query).execute(this.db)).rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const db of this.#opened) await db.destroy();
    rmSync(this.#folder, { recursive: true });
  }
}
