import type { Kysely, RawBuilder } from 'kysely';

interface TaskColumns {
  stage: string | null;
  note: string | null;
  moved_ms: number | null;
  /** As the driver gives it: text, a number or a `Date`. */
  updated_at: unknown;
}

/** The caller's own tables: one for each type of id, and one whose names are all hostile. */
export interface ContractTables {
  tasks: TaskColumns & { id: number };
  big_tasks: TaskColumns & { id: number | bigint | string };
  text_tasks: TaskColumns & { id: string };
  [hostile.table]: { [hostile.id]: number; [hostile.stage]: string | null; [hostile.updatedAt]: unknown };
}

/** Names that are reserved, quoted, commented out or worse unless every one goes through Kysely's quoting. */
export const hostile = {
  table: 'group "by"; -- `x` select',
  id: 'select',
  stage: 'order " by \'',
  updatedAt: 'Update``d/*',
} as const;

/** One kind of database, as the contract needs it. */
export interface ContractStore {
  /** Names the driver too: the promise is kept by each. */
  readonly name: string;
  /** Why it cannot be tested here; then its suite is skipped with this reason. */
  readonly missing?: string | undefined;
  /** The SQL types of the caller's columns. */
  readonly columns: {
    readonly integer: string;
    readonly text: string;
    /** Text that is equal where its bytes are, if that is another type. */
    readonly exact?: string;
    readonly instant: string;
  };
  /** A column of the instant type as text: `YYYY-MM-DD HH:MM:SS`, a fraction perhaps, in UTC. */
  utc(column: RawBuilder<unknown>): RawBuilder<string>;
  /** A second schema that `open` makes, where the database has schemas. */
  readonly schema?: string;
  /** Makes an empty database. */
  open(): Promise<OpenStore>;
}

/** A database that was made for one run of the contract. */
export interface OpenStore {
  /** The handle of one more process, which tells every statement that it sends; with connections of its own where the database can have several. */
  connect(log: (sql: string) => void): Kysely<ContractTables>;
  /** Removes what was made, after all handles were destroyed. */
  close(): Promise<void>;
}

/** A name on a server that no other run of the tests has. */
export const ownName = (name: string): string => `${name}_${process.pid}`;

/** A server that the tests need: its address, or why there is none. */
export function serverUrl(variable: 'TEST_POSTGRES_URL' | 'TEST_MYSQL_URL'): {
  readonly url: string;
  readonly missing: string | undefined;
} {
  const url = process.env[variable];
  if (url !== undefined && url !== '') return { url, missing: undefined };
  const missing = `${variable} is not set`;
  if (process.env['TEST_DATABASES_REQUIRED'] === '1') throw new Error(missing);
  process.stderr.write(`skipped: ${missing}\n`);
  return { url: '', missing };
}
