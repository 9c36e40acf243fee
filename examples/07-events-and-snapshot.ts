/** Watching: every decision is an event, and a snapshot says who holds what, since when, on what evidence. */
import { Kysely, sql } from 'kysely';
import type { Result } from 'neverthrow';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type Failure,
  releaseLease,
  shouldDefer,
  snapshot,
  toError,
  updateStageCas,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  // An event is frozen plain JSON; whatever the observer throws changes nothing.
  onEvent: ({ severity, type }) => console.log(`${severity.padEnd(7)} ${type}`),
});
orThrow(await ensureSchema(ownership));

const lease = orThrow(await acquireLease(ownership, { taskId: 1, actor: 'finalizer', stage: 'deploy' }));

// An actor that would advance the task asks first; uncertainty always means: wait.
const advice = orThrow(await shouldDefer(ownership, 1));
console.log(`the reconciler defers: ${advice.defer}, ${advice.defer && advice.reason}`);

const { leases } = orThrow(await snapshot(ownership));
for (const { taskId, actor, stage, verdict, reason, sameProcess } of leases) {
  console.log(`task ${taskId}: ${actor} in ${stage}, ${verdict}, ${reason}, this process: ${sameProcess}`);
}

orThrow(await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease }));
orThrow(await releaseLease(ownership, lease));
void (await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' }));

const { counters } = orThrow(await snapshot(ownership));
console.log(Object.fromEntries(Object.entries(counters).filter(([, count]) => count > 0)));

await db.destroy();

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// debug   lease.acquired
// info    action.deferred
// the reconciler defers: true, live-owner
// task 1: finalizer in deploy, live, claim-registered, this process: true
// info    stage.changed
// debug   lease.released
// info    stage.race-lost
// {
//   acquired: 1,
//   released: 1,
//   stagesChanged: 1,
//   racesLost: 1,
//   deferred: 1
// }
