import { type Kysely, sql } from 'kysely';
import { invariant, memoryStore, type Process, type Scenario } from 'transition-ownership/testing';

export interface Tables {
  task: { id: number; stage: string };
}

export const migrate = (db: Kysely<Tables>): Promise<unknown> =>
  sql`create table if not exists task (id integer primary key, stage text)`.execute(db);

export const store = memoryStore<Tables>({ migrate });

export const worker = async ({ db, work }: Process<Tables>): Promise<void> => {
  await work();
  await db.updateTable('task').set({ stage: 'done' }).where('id', '=', 1).where('stage', '=', 'deploy').execute();
};

export const scenario: Scenario<Tables> = {
  setup: ({ store: { admin } }) => admin.insertInto('task').values({ id: 1, stage: 'deploy' }).execute(),
  processes: { A: worker, B: worker },
  invariant: invariant('one task', (world) => world.rows('task').length === 1),
};

/** Stands for a test runner: defines the tests of a suite, and runs none. */
export const runner = { describe: (_name: string, define: () => void): void => define(), test: (): void => undefined };
