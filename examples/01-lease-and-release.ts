/** One owner at a time: take the lease on a task's transition, and give it back. */
import { Kysely, sql } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema, releaseLease, toError } from 'transition-ownership';
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
const made = await ensureSchema(ownership);
if (made.isErr()) throw toError(made.error);

// The lease is a row in the database: it outlives the process, and every process sees it.
const acquired = await acquireLease(ownership, { taskId: 1, actor: 'monitor', stage: 'deploy' });
if (acquired.isErr()) throw toError(acquired.error);
const lease = acquired.value;
console.log(`${lease.actor} owns task ${lease.taskId} with token ${lease.fencingToken}`);

// The second one gets a failure as a value, with the evidence. Another task is free.
const second = await acquireLease(ownership, { taskId: 1, actor: 'webhook' });
if (second.isErr() && second.error.type === 'lease-busy') {
  const { verdict, reason, holder } = second.error;
  console.log(`webhook defers: ${holder?.actor} is ${verdict}, ${reason}`);
}
const other = await acquireLease(ownership, { taskId: 2, actor: 'webhook' });
if (other.isOk()) console.log(`webhook owns task ${other.value.taskId}`);

// Giving back deletes exactly this acquisition; doing it again does nothing.
for (let times = 1; times <= 2; times += 1) {
  const released = await releaseLease(ownership, lease);
  console.log(released.unwrapOr('left to expire')); // it never throws: a failure is a value too
}

const third = await acquireLease(ownership, { taskId: 1, actor: 'webhook' });
if (third.isOk()) console.log(`webhook owns task 1, with a greater token: ${Number(third.value.fencingToken) > 1}`);

void (await ownership.close({ deadlineMs: 0 })); // what is still held is left to expire
await db.destroy();

// Output:
// monitor owns task 1 with token 1
// webhook defers: monitor is live, claim-registered
// webhook owns task 2
// released
// already-released
// webhook owns task 1, with a greater token: true
