/** A process dies between an irreversible step and its record: recovery asks the outside world, and never guesses. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { err, type Result } from 'neverthrow';
import {
  createTransitionOwnership,
  ensureSchema,
  type Failure,
  recoverOnStartup,
  toError,
  withTransitionLease,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';

interface Database {
  tasks: { id: number; stage: string };
}

const [given] = process.argv.slice(2);
const directory = given ?? mkdtempSync(join(tmpdir(), 'effects-'));
const merges = join(directory, 'merges.log'); // the outside world: it can be asked, and nothing in it taken back
const db = new Kysely<Database>({ dialect: openSqlite(join(directory, 'tasks.sqlite')) });
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  effects: {}, // the journal: a second table of the library
});

const probe = () => (readFileSync(merges, 'utf8').includes('c0ffee') ? ('applied' as const) : ('not-applied' as const));

/** The handler of the stage: the same code for the first try and for every one after it. */
const merge = (die: () => Promise<void>) =>
  withTransitionLease(ownership, { taskId: 1, actor: 'finalizer', stage: 'deploy' }, async (held) => {
    const merged = await held.runEffect({
      effect: 'merge_pr',
      key: 'c0ffee', // which application of it: the next commit's merge is another
      probe,
      apply: async ({ fencingToken }) => {
        appendFileSync(merges, `merged c0ffee under token ${fencingToken}\n`);
        await die();
      },
    });
    return merged.isErr() ? err(merged.error) : held.updateStage('done');
  });

if (given === undefined) await parent();
else await child();

/** Runs in a process of its own, and dies when the merge is done and nobody knows. */
async function child(): Promise<void> {
  void (await merge(async () => {
    process.send?.('merged');
    await once(process, 'message'); // never comes
  }));
}

async function parent(): Promise<void> {
  await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
  await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
  orThrow(await ensureSchema(ownership));
  writeFileSync(merges, '');
  const owner = fork(import.meta.filename, [directory]);
  await once(owner, 'message');
  owner.kill('SIGKILL');
  await once(owner, 'exit');

  // Without a probe nobody can know, and it is held for a person; with one the answer decides.
  const blind = orThrow(await recoverOnStartup(ownership, { jobs: 'dead-only' }));
  for (const { decision, effects, lease } of blind.transitions) {
    console.log(`its owner: ${lease?.reason}`);
    console.log(`without a probe: ${decision}, ${effects[0]?.message}`);
  }
  const asked = orThrow(await recoverOnStartup(ownership, { jobs: 'dead-only', probes: { merge_pr: probe } }));
  for (const { decision } of asked.transitions) console.log(`with a probe: ${decision}`);

  // Converge: run the same handler. What was applied is not applied again, and the stage is written.
  const moved = orThrow(await merge(async () => console.log('never printed')));
  console.log(`the task is ${moved.to}`);
  console.log(readFileSync(merges, 'utf8').trim());
  await db.destroy();
  rmSync(directory, { recursive: true });
}

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// its owner: process-gone
// without a probe: hold, it was started, and there is no probe to ask
// with a probe: converge
// the task is done
// merged c0ffee under token 1
