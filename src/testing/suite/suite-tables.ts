import { type Kysely, sql } from 'kysely';
import { createTransitionOwnership, type Dialect, type DialectName, ensureSchema, type ShapeOf } from '../../index.js';
import type { TestStore } from '../store/store.js';
import type { Process } from '../world/process.js';
import type { World } from '../world/view.js';

/** The table that the ready suites bring themselves, as Kysely knows it. */
export interface SuiteTables {
  readonly simulated_task: { readonly id: number; readonly stage: string };
}

/** The table, as an ownership knows it. */
export const suiteTasks = { table: 'simulated_task', id: 'id', stage: 'stage' } as const;

/** The types of an ownership over that table. */
export type ShapeOfTasks = ShapeOf<SuiteTables, 'simulated_task', 'id', 'stage', undefined, 'integer', 'integer'>;

/** Makes the table, and the leases beside it, next to whatever the store's `migrate` makes; then opens the store. */
export async function openForSuite<DB>(store: TestStore<DB>, dialect?: Dialect | DialectName): Promise<TestStore<DB>> {
  const db = suiteTable(store.admin);
  await sql`create table if not exists ${sql.table(suiteTasks.table)} (id integer not null primary key, stage varchar(100) not null)`.execute(
    db,
  );
  const made = await ensureSchema(
    createTransitionOwnership({ db, tasks: suiteTasks, ...(dialect === undefined ? {} : { dialect }) }),
  );
  if (made.isErr()) throw new Error(made.error.message, { cause: made.error });
  await store.open();
  return store;
}

/** Puts tasks at their first stage. */
export async function seedTasks<DB>(store: TestStore<DB>, tasks: Readonly<Record<number, string>>): Promise<void> {
  const rows = Object.entries(tasks).map(([id, stage]) => ({ id: Number(id), stage }));
  await suiteTable(store.admin).insertInto(suiteTasks.table).values(rows).execute();
}

/** The stage that a task is at. */
export function stageOf<DB>(world: World<DB>, taskId: number): string {
  const row = world.rows(suiteTasks.table).find(({ id }) => Number(id) === taskId);
  return String(row?.['stage']);
}

/** The suites' own table is in no user's schema type. */
export const suiteTable = <DB>(db: Kysely<DB>) => db as unknown as Kysely<SuiteTables>;

/** The same for a process. */
export const suiteProcess = <DB>(process: Process<DB>) => process as unknown as Process<SuiteTables>;
