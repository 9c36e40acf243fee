/** The usual form: acquire, do the work, move the stage, release, in that order, always. */
import { Kysely, sql } from 'kysely';
import { err } from 'neverthrow';
import {
  acquireLease,
  createTransitionOwnership,
  describeFailure,
  ensureSchema,
  releaseLease,
  toError,
  withTransitionLease,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: 'deploy-staging' | 'deploy' | 'done' };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
const made = await ensureSchema(ownership);
if (made.isErr()) throw toError(made.error);

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' } as const;

// What the handler returns is the value; a result that it returns is handed on.
const deploy = () =>
  withTransitionLease(ownership, request, async (held) => {
    const ready = await held.ensure(5_000); // verified in the database, with 5 s to go: now begin what cannot be undone
    if (ready.isErr()) return err(ready.error);
    console.log(`deploying under token ${held.fencingToken}`);
    return held.updateStage('done'); // fenced: expects the stage that the request named
  });
const moved = await deploy();
if (moved.isOk()) console.log(`moved from ${moved.value.from} to ${moved.value.to}`);
const again = await deploy(); // a second webhook, a restart: the task has moved on, and the handler is not called
if (again.isErr()) console.log(again.error.message);

// A handler that throws is a failure with its cause, and the lease is given back all the same.
const done = { ...request, stage: 'done' } as const;
const thrown = await withTransitionLease(ownership, done, () => {
  throw new Error('the registry is down');
});
if (thrown.isErr()) console.log(describeFailure(thrown.error));

// Busy: the handler is not even called.
const acquired = await acquireLease(ownership, done);
if (acquired.isErr()) throw toError(acquired.error);
const lease = acquired.value;
const busy = await withTransitionLease(ownership, { taskId: 1, actor: 'reaper' }, () => {
  console.log('never printed');
});
console.log(busy.isErr() && busy.error.type);
void (await releaseLease(ownership, lease)); // one that fails leaves the row to expire

await db.destroy();

// Output:
// deploying under token 1
// moved from deploy to done
// Task 1 was expected in stage "deploy" and is in "done".
// The handler threw: the registry is down. The lease was released; the cause is in `cause`.
// lease-busy
