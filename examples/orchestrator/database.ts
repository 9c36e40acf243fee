import { type Generated, Kysely } from 'kysely';
import { openSqlite } from 'transition-ownership/sqlite';

/** Where a task is on its way to production. */
export type Stage = 'deploy-staging' | 'deploy' | 'done';

/** The orchestrator's own tables: the library reads and writes them, and never alters them. */
export interface Database {
  tasks: {
    id: Generated<number>;
    repo: string;
    /** What is being shipped: it names every effect, so that the next commit's effects are others. */
    sha: string;
    stage: Stage;
    updated_at: string | null;
  };
}

/** Opens the file that all processes share. */
export function openDatabase(file: string): Kysely<Database> {
  return new Kysely<Database>({ dialect: openSqlite(file) });
}

/** Creates what is not there yet. */
export async function createTables(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('tasks')
    .ifNotExists()
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('repo', 'text', (column) => column.notNull())
    .addColumn('sha', 'text', (column) => column.notNull())
    .addColumn('stage', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text')
    .execute();
}
