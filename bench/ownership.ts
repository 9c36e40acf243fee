import { type Kysely, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  releaseLease,
  updateStageCas,
} from 'transition-ownership';
import type { Contender } from './race.js';
import { type Stage, TASKS, Tour } from './tour.js';

/** The tables of the bench. */
export interface Tables {
  tasks: { id: number; stage: Stage; updated_at: string | null };
  jobs: {
    id: number;
    task_id: number;
    status: 'queued' | 'running' | 'failed' | 'done';
    run_id: number | null;
    pid: number | null;
    started_at: string | null;
  };
}

/** An ownership over the tables of the bench. */
export type BenchOwnership = ReturnType<typeof makeOwnership>;

/** What a bench may want to watch or to shorten. */
export interface BenchOptions {
  readonly lease?: { readonly ttlMs: number; readonly renewEveryMs: number };
  readonly onEvent?: (event: { readonly type: string }) => void;
}

function makeOwnership(db: Kysely<Tables>, options: BenchOptions) {
  return createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' },
    ...options,
  });
}

/** Makes an ownership and its table. */
export async function ownershipOn(db: Kysely<Tables>, options: BenchOptions = {}): Promise<BenchOwnership> {
  const ownership = makeOwnership(db, options);
  (await ensureSchema(ownership))._unsafeUnwrap();
  return ownership;
}

/** Fills the tasks, all in the first stage. */
export async function fillTasks(db: Kysely<Tables>, count = TASKS): Promise<void> {
  const stage: Stage = 'staged';
  await sql`insert into tasks (id, stage)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)})
    select i, ${sql.lit(stage)} from n`.execute(db);
}

/** Acquire, fenced stage write, release: three statements, or two where the write releases. */
export function transitions(name: string, ownership: BenchOwnership, { release = false } = {}): Contender {
  const tour = new Tour();
  return {
    name,
    run: async (times) => {
      for (let time = 0; time < times; time += 1) {
        const { taskId, from, to } = tour.next();
        const acquired = await acquireLease(ownership, { taskId, actor: 'monitor', stage: from });
        const lease = acquired._unsafeUnwrap();
        const changed = await updateStageCas(ownership, { taskId, expected: from, next: to, lease, release });
        changed._unsafeUnwrap();
        if (!release) (await releaseLease(ownership, lease))._unsafeUnwrap();
      }
    },
  };
}
