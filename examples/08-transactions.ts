/** In a transaction of yours a lease is provisional: it stands or falls with your commit. */
import { Kysely, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  releaseLease,
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
(await ensureSchema(ownership))._unsafeUnwrap();

const stateOf = async (taskId: number) => (await inspectLease(ownership, taskId))._unsafeUnwrap().state;

// The lease and a row of your own, both or neither.
const lease = await db.transaction().execute(async (trx) => {
  await trx.insertInto('runs').values({ id: 10, task_id: 1 }).execute();
  return (await acquireLease(ownership.using(trx), { taskId: 1, actor: 'monitor', runId: 10 }))._unsafeUnwrap();
});
console.log(`task 1 after the commit: ${await stateOf(1)}`);

// From the commit on it is a lease like any other.
console.log((await releaseLease(ownership, lease))._unsafeUnwrap());

// A rollback takes the lease back with everything else.
await db
  .transaction()
  .execute(async (trx) => {
    (await acquireLease(ownership.using(trx), { taskId: 2, actor: 'monitor', runId: 11 }))._unsafeUnwrap();
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
    (await inside.ensure(5_000))._unsafeUnwrap();
    await trx.insertInto('runs').values({ id: 12, task_id: 3 }).execute();
    return (await inside.updateStage('done'))._unsafeUnwrap().to;
  }),
);
console.log(`task 3: ${done._unsafeUnwrap()}`);

await db.destroy();

// Output:
// acquired, provisional: true
// task 1 after the commit: held
// released
// acquired, provisional: true
// rolled back: Error: no more runs today
// task 2 after the rollback: free
// acquired, provisional: false
// task 3: done
