/** A switch that takes the guard away for everything, and a scope that takes it away for some. */
import { Kysely, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type Mode,
  toError,
  updateStageCas,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
}

let mode: Mode = 'on';
const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  mode: () => mode, // read at every request: from the environment, a file, a flag service
  scope: ({ context }) => context !== 'docs', // whatever each request must carry: here its repository
});
const made = await ensureSchema(ownership);
if (made.isErr()) throw toError(made.error);

async function ask(taskId: number, context: string): Promise<void> {
  const lease = await acquireLease(ownership, { taskId, actor: 'monitor', context });
  const told = lease.match(
    ({ guarded }) => (guarded ? 'guarded' : 'granted without a guard'),
    ({ type }) => type,
  );
  console.log(`${mode}, task ${taskId} of ${context}: ${told}`);
}

await ask(1, 'api');
await ask(2, 'docs'); // out of scope

// Draining, on the way to off: holders finish, nobody new begins.
mode = 'draining';
await ask(3, 'api');

// Off: no statement names the lease table, and a stage write is the plain UPDATE of the days before.
mode = 'off';
await ask(1, 'api');
const moved = await updateStageCas(ownership, { taskId: 1, expected: 'whatever', next: 'done', context: 'api' });
console.log(`off, stage written unconditionally: ${moved.isOk()}`);

// On again: the lease that was taken at first is still there and still guards.
mode = 'on';
await ask(1, 'api');

void (await ownership.close({ deadlineMs: 0 })); // what is still held is left to expire
await db.destroy();

// Output:
// on, task 1 of api: guarded
// on, task 2 of docs: granted without a guard
// draining, task 3 of api: not-granting
// off, task 1 of api: granted without a guard
// off, stage written unconditionally: true
// on, task 1 of api: lease-busy
