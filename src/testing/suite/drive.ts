import { type Kysely, sql } from 'kysely';
import {
  createTransitionOwnership,
  ensureSchema,
  type Held,
  type TransitionOwnership,
  withTransitionLease,
} from '../../index.js';
import type { TestStore } from '../store/store.js';
import type { Process } from '../world/process.js';
import type { World } from '../world/view.js';
import type { StageMachine } from './handler-suite.js';

/** The one task that a handler suite moves. */
const theTask = 1;
const table = 'simulated_task' as const;

/** The table, as Kysely knows it. */
interface HandlerTables {
  readonly simulated_task: { readonly id: number; readonly stage: string };
}

const tasks = { table, id: 'id', stage: 'stage' } as const;

/** The table of tasks that a handler suite brings itself, beside whatever the store's `migrate` made. */
export const handlerTable = {
  /** Opens a store and makes the tables. */
  async open<DB>(store: TestStore<DB>): Promise<TestStore<DB>> {
    await store.open();
    const admin = withTask(store.admin);
    await sql`create table if not exists ${sql.table(table)} (id integer not null primary key, stage varchar(100))`.execute(
      admin,
    );
    const made = await ensureSchema(createTransitionOwnership({ db: admin, tasks }));
    if (made.isErr()) throw new Error(made.error.message, { cause: made.error });
    return store;
  },

  /** Puts the task at its first stage. */
  async seed<DB>(store: TestStore<DB>, initial: string): Promise<void> {
    await withTask(store.admin).insertInto(table).values({ id: theTask, stage: initial }).execute();
  },

  /** The stage that the task is at. */
  stageIn: <DB>(world: World<DB>): string => String(world.rows(table)[0]?.['stage']),
};

/** Moves the task on, one stage after another, until it is at a final stage or somebody else is at it. */
export async function drive<S extends string, Outside extends Record<string, object>, DB>(
  process: Process<DB>,
  machine: StageMachine<S, Outside, DB>,
  { outside }: { readonly outside: Outside },
): Promise<string> {
  const ownership = ofTask(process).createOwnership({ tasks });
  const wrapped = wrap(process, outside);
  for (;;) {
    const stage = await stageNow(process);
    const handler = machine.handlers[stage as S];
    if (handler === undefined) return stage;
    const moved = await withTransitionLease(
      ownership as TransitionOwnership,
      { taskId: theTask, actor: 'worker', stage },
      async (held: Held) => {
        // What was read before the lease was had may be over by now; what is read under it is not.
        if ((await stageNow(process)) !== stage) return undefined;
        return held.updateStage(await handler(process, theTask, wrapped));
      },
    );
    if (moved.isErr()) return moved.error.type;
  }
}

async function stageNow<DB>(process: Process<DB>): Promise<string> {
  const row = await ofTask(process)
    .db.selectFrom(table)
    .select('stage')
    .where('id', '=', theTask)
    .executeTakeFirstOrThrow();
  return row.stage;
}

function wrap<Outside extends Record<string, object>, DB>(process: Process<DB>, outside: Outside): Outside {
  return Object.fromEntries(
    Object.entries(outside).map(([name, client]) => [name, process.port(name, client)]),
  ) as Outside;
}

/** The suite's own table is in no user's schema type. */
const withTask = <DB>(db: Kysely<DB>) => db as unknown as Kysely<HandlerTables>;
const ofTask = <DB>(process: Process<DB>) => process as unknown as Process<HandlerTables>;
