import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type ProcessIdentity,
  type TransitionOwnership,
} from 'transition-ownership';
import type { Place } from './places.js';

/** The pid of a process that was killed a moment ago. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return child.pid ?? 0;
}

function ownershipOf({ db }: Place, identity?: ProcessIdentity) {
  const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
  // So long that no renewal moves what a test compares.
  const lease = { ttlMs: 1_800_000, renewEveryMs: 600_000 };
  return createTransitionOwnership({ db, tasks, lease, effects: {}, ...(identity !== undefined && { identity }) });
}

const token = async (own: ReturnType<typeof ownershipOf>, taskId: number, actor: string, runId?: number) => {
  const request = { taskId, actor, stage: 'deploy', ...(runId !== undefined && { runId }) };
  return (await acquireLease(own, request))._unsafeUnwrap().fencingToken ?? 0;
};

/** What an operator may meet. */
export interface Wreckage {
  /** The tokens by task. */
  readonly tokens: readonly number[];
  readonly dead: number;
  readonly live: TransitionOwnership<never>;
}

/**
 * Task 1 is held by a living process (this one), 2 by one that was killed, 3 by one whose lease has expired, 4 by one
 * of another host. Job 1 runs in the dead process and job 2 in the living one; job 3 is queued and carries a run, job 4
 * is sound. Task 2 was broken off in an effect.
 */
export async function wreckage(place: Place): Promise<Wreckage> {
  const { db } = place;
  const own = ownershipOf(place);
  (await ensureSchema(own))._unsafeUnwrap();
  const tasks = [1, 2, 3, 4, 5, 6].map((id) => ({ id, stage: 'deploy' }));
  await db.insertInto('tasks').values(tasks).execute();
  const dead = await deadPid();
  const gone = ownershipOf(place, { ...own.identity, bootId: 'gone', pid: dead, start: 'gone' });
  const elsewhere = ownershipOf(place, { ...own.identity, bootId: 'elsewhere', host: 'boot/pid/time/other-host' });
  const tokens = [
    0,
    await token(own, 1, 'finalizer', 7),
    await token(gone, 2, 'monitor'),
    await token(elsewhere, 3, 'reaper'),
    await token(elsewhere, 4, 'webhook'),
  ];
  await Promise.all([gone, elsewhere].map((each) => each.close({ deadlineMs: 0 })));
  await db
    .updateTable('transition_lease')
    .set(({ eb }) => ({ expires_ms: eb('expires_ms', '-', 10_000_000) }))
    .where('task_id', '=', 3)
    .execute();
  const at = '2026-01-02 03:04:05.000';
  const none = { task_id: 9, run_id: null, pid: null, started_at: null, finished_at: null };
  await db
    .insertInto('jobs')
    .values([
      { ...none, id: 1, task_id: 5, status: 'running', run_id: 70, pid: dead, started_at: at },
      { ...none, id: 2, task_id: 6, status: 'running', run_id: 71, pid: process.pid, started_at: at },
      { ...none, id: 3, status: 'queued', run_id: 72, pid: dead, started_at: at },
      { ...none, id: 4, status: 'queued' },
    ])
    .execute();
  const started = { state: 'started', started_ms: 1_767_323_045_000, fencing_token: tokens[2] ?? 0, owner: 'monitor' };
  await db
    .insertInto('transition_effect')
    .values({ ...started, task_id: 2, effect: 'merge_pr', key: 'c0ffee', claim: 'claim' })
    .execute();
  return { tokens, dead, live: own as unknown as TransitionOwnership<never> };
}
