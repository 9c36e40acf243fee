/** An owner that died is proved dead, and exactly its lease is reclaimed: no waiting for a timeout. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import type { Result } from 'neverthrow';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type Failure,
  inspectLease,
  toError,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
}

const [given] = process.argv.slice(2);
const directory = given ?? mkdtempSync(join(tmpdir(), 'reclaim-'));
const db = new Kysely<Database>({ dialect: openSqlite(join(directory, 'tasks.sqlite')) });
await sql`create table if not exists tasks (id integer primary key, stage text not null)`.execute(db);
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  onEvent: (event) => {
    if (event.type === 'lease.reclaimed')
      console.log(`reclaimed from ${event.actor}: ${event.verdict}, ${event.reason}`);
  },
});
orThrow(await ensureSchema(ownership));
if (given === undefined) await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();

if (given === undefined) await parent();
else await child();

/** Runs in a process of its own: takes the lease, says so, and waits for its end. */
async function child(): Promise<void> {
  const lease = await acquireLease(ownership, { taskId: 1, actor: 'monitor' });
  process.on('message', () => {}); // keeps the process alive
  process.send?.(lease.isOk());
}

async function parent(): Promise<void> {
  const owner = fork(import.meta.filename, [directory]);
  await once(owner, 'message');
  const before = await acquireLease(ownership, { taskId: 1, actor: 'reaper' });
  if (before.isErr() && before.error.type === 'lease-busy')
    console.log(`busy: ${before.error.verdict}, ${before.error.reason}`);

  owner.kill('SIGKILL');
  await once(owner, 'exit');
  const seen = orThrow(await inspectLease(ownership, 1));
  if (seen.state === 'held') console.log(`its lease is still there: ${seen.verdict}, ${seen.reason}`);

  const lease = orThrow(await acquireLease(ownership, { taskId: 1, actor: 'reaper' }));
  console.log(`${lease.actor} owns task ${lease.taskId}`);
  await db.destroy();
  rmSync(directory, { recursive: true });
}

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// busy: live, process-alive
// its lease is still there: dead, process-gone
// reclaimed from monitor: dead, process-gone
// reaper owns task 1
