/** Any table's write can be fenced by a lease: `ownedBy` is a condition for your own statement. */
import { Kysely, sql } from 'kysely';
import type { Result } from 'neverthrow';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type Failure,
  forceReleaseLease,
  ownedBy,
  toError,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
  coverage: { repo: string; percent: number };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
await sql`create table coverage (repo text primary key, percent real not null)`.execute(db);
await db.insertInto('coverage').values({ repo: 'api', percent: 81.5 }).execute();
const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
orThrow(await ensureSchema(ownership));

const lease = orThrow(await acquireLease(ownership, { taskId: 1, actor: 'finalizer' }));

/** Raises the baseline, in one statement with the question whether we still may. */
async function ratchet(percent: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('coverage')
    .set({ percent })
    .where('repo', '=', 'api')
    .where('percent', '<', percent)
    .where(ownedBy(ownership, lease))
    .executeTakeFirst();
  console.log(`ratchet to ${percent}: ${numUpdatedRows === 1n ? 'done' : 'refused'}`);
}

await ratchet(82.5);

// Somebody takes the lease away while we think that we still own it: the same statement changes nothing.
const order = { taskId: 1, fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'wrong branch' };
orThrow(await forceReleaseLease(ownership, order));
await ratchet(99.5);

const { percent } = await db.selectFrom('coverage').select('percent').executeTakeFirstOrThrow();
console.log(`the baseline is ${percent}`);

await db.destroy();

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// ratchet to 82.5: done
// ratchet to 99.5: refused
// the baseline is 82.5
