import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';

/** A database that must not be asked for anything, and counts how often it was. */
export interface Silent<DB> {
  readonly db: Kysely<DB>;
  /** How many connections were asked for. */
  readonly asked: number;
}

interface Tables {
  tasks: { id: number; stage: string; updated_at: string | null };
}

/** Makes one, of the dialect of SQLite. */
export function silent<DB = Tables>(): Silent<DB> {
  let asked = 0;
  class RefusingDriver extends DummyDriver {
    override acquireConnection(): Promise<never> {
      asked += 1;
      return Promise.reject(new Error('a statement was sent'));
    }
  }
  const db = new Kysely<DB>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new RefusingDriver(),
      createIntrospector: (handle) => new SqliteIntrospector(handle),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return {
    db,
    get asked() {
      return asked;
    },
  };
}
