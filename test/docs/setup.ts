import { Kysely } from 'kysely';
import { createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

export interface Database {
  tasks: { id: number; stage: 'deploy-staging' | 'deploy' | 'done'; updated_at: string | null };
}

export const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await db.schema
  .createTable('tasks')
  .addColumn('id', 'integer', (column) => column.primaryKey())
  .addColumn('stage', 'text', (column) => column.notNull())
  .addColumn('updated_at', 'text')
  .execute();
await db.insertInto('tasks').values({ id: 1, stage: 'deploy-staging', updated_at: null }).execute();

export const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
});
(await ensureSchema(ownership))._unsafeUnwrap();
