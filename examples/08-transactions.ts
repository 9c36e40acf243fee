/** In a transaction of yours a lease is provisional: it stands or falls with your commit. */
import { Kysely, sql } from 'kysely';
import type { Result } from 'neverthrow';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type Failure,
  inspectLease,
  releaseLease,
  toError,
  withTransitionLease,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
  runs: { id: number; task_id: number };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db
  .insertInto('tasks')
  .values([
    { id: 1, stage: 'deploy' },
    { id: 2, stage: 'deploy' },
  ])
  .execute();
await sql`create table runs (id integer primary key, task_id integer not null)`.execute(db);
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  onEvent: (event) => {
    if (event.type === 'lease.acquired') console.log(`acquired, provisional: ${event.provisional}`);
  },
});
orThrow(await ensureSchema(ownership));

const stateOf = async (taskId: number) => orThrow(await inspectLease(ownership, taskId)).state;

// The lease and a row of your own, both or neither.
const lease = await db.transaction().execute(async (trx) => {
  await trx.insertInto('runs').values({ id: 10, task_id: 1 }).execute();
  return orThrow(await acquireLease(ownership.using(trx), { taskId: 1, actor: 'monitor', runId: 10 }));
});
console.log(`task 1 after the commit: ${await stateOf(1)}`);

// From the commit on it is a lease like any other.
console.log(orThrow(await releaseLease(ownership, lease)));

// A rollback takes the lease back with everything else.
await db
  .transaction()
  .execute(async (trx) => {
    orThrow(await acquireLease(ownership.using(trx), { taskId: 2, actor: 'monitor', runId: 11 }));
    throw new Error('no more runs today');
  })
  .catch((error: unknown) => console.log(`rolled back: ${String(error)}`));
console.log(`task 2 after the rollback: ${await stateOf(2)}`);

// A handler's stage write commits with a row of your own: its verbs go into your transaction too.
await db.insertInto('tasks').values({ id: 3, stage: 'deploy' }).execute();
const request = { taskId: 3, actor: 'finalizer', stage: 'deploy' } as const;
const done = await withTransitionLease(ownership, request, (held) =>
  db.transaction().execute(async (trx) => {
    const inside = held.using(trx);
    orThrow(await inside.ensure(5_000));
    await trx.insertInto('runs').values({ id: 12, task_id: 3 }).execute();
    return orThrow(await inside.updateStage('done')).to;
  }),
);
console.log(`task 3: ${orThrow(done)}`);

await db.destroy();

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// acquired, provisional: true
// task 1 after the commit: held
// released
// acquired, provisional: true
// rolled back: Error: no more runs today
// task 2 after the rollback: free
// acquired, provisional: false
// task 3: done
