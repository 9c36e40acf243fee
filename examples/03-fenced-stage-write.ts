/** Compare-and-swap of the stage: one writer wins, the loser has written nothing and gets a failure as a value. */
import { Kysely, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  defineStages,
  ensureSchema,
  forceReleaseLease,
  toError,
  updateStageCas,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: 'deploy-staging' | 'deploy' | 'done' };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db.insertInto('tasks').values({ id: 1, stage: 'deploy-staging' }).execute();
const transitions = defineStages({ 'deploy-staging': ['deploy'], deploy: ['done', 'deploy-staging'], done: [] });
const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage', transitions } });
const made = await ensureSchema(ownership);
if (made.isErr()) throw toError(made.error);

// Two writers that read the same stage: the database decides.
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;
for (const result of await Promise.all([updateStageCas(ownership, move), updateStageCas(ownership, move)])) {
  result.match(
    ({ from, to }) => console.log(`moved: ${from} to ${to}`),
    ({ type, message }) => console.log(`${type}: ${message}`),
  );
}

// While another actor owns the transition, a writer without the lease must not move the stage.
const acquired = await acquireLease(ownership, { taskId: 1, actor: 'finalizer', stage: 'deploy' });
if (acquired.isErr()) throw toError(acquired.error);
const lease = acquired.value;
const intruder = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'deploy-staging' });
console.log(intruder.isErr() && intruder.error.type);

// An operator takes the lease away: the owner's write fails, although the stage is still what it expects.
const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'wrong commit' };
const taken = await forceReleaseLease(ownership, order);
if (taken.isErr()) throw toError(taken.error);
const late = await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease });
console.log(late.isErr() && late.error.type);

// A move that the map does not allow does not compile; from JavaScript it fails before any statement.
// @ts-expect-error done is the end
const back = await updateStageCas(ownership, { taskId: 1, expected: 'done', next: 'deploy' });
console.log(back.isErr() && back.error.message);

await db.destroy();

// Output:
// moved: deploy-staging to deploy
// lost-race: Task 1 was expected in stage "deploy-staging" and is in "deploy".
// lease-busy
// lease-lost
// Task 1 may not go from "done" to "deploy".
