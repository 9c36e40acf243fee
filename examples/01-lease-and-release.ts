/** One owner at a time: take the lease on a task's transition, and give it back. */
import { Kysely, sql } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema, releaseLease } from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
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
const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
(await ensureSchema(ownership))._unsafeUnwrap();

// The lease is a row in the database: it outlives the process, and every process sees it.
const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor', stage: 'deploy' }))._unsafeUnwrap();
console.log(`${lease.actor} owns task ${lease.taskId} with token ${lease.fencingToken}`);

// Whoever comes second is told so by value, and on what evidence. Another task is free.
const second = await acquireLease(ownership, { taskId: 1, actor: 'webhook' });
if (second.isErr() && second.error.type === 'lease-busy') {
  const { verdict, reason, holder } = second.error;
  console.log(`webhook defers: ${holder?.actor} is ${verdict}, ${reason}`);
}
const other = (await acquireLease(ownership, { taskId: 2, actor: 'webhook' }))._unsafeUnwrap();
console.log(`webhook owns task ${other.taskId}`);

// Giving back deletes exactly this acquisition; doing it again does nothing.
console.log((await releaseLease(ownership, lease))._unsafeUnwrap());
console.log((await releaseLease(ownership, lease))._unsafeUnwrap());

const third = (await acquireLease(ownership, { taskId: 1, actor: 'webhook' }))._unsafeUnwrap();
console.log(`webhook owns task ${third.taskId}, with a greater token: ${Number(third.fencingToken) > 1}`);

void (await ownership.close({ deadlineMs: 0 })); // what is still held is left to expire
await db.destroy();

// Output:
// monitor owns task 1 with token 1
// webhook defers: monitor is live, claim-registered
// webhook owns task 2
// released
// already-released
// webhook owns task 1, with a greater token: true
