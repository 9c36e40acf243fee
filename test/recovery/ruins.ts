import { sql } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema, runEffect } from 'transition-ownership';
import { ok } from '../job/proofs.js';
import { mapped, type Overrides, type Worker, type Yard } from '../job/yard.js';

/** An ownership with jobs and a journal. */
export function journalled(worker: Worker, overrides: Overrides = {}) {
  return createTransitionOwnership({ ...worker.base(), jobs: mapped, effects: {}, ...overrides });
}

/** An ownership without either. */
export function bare(worker: Worker) {
  return createTransitionOwnership(worker.base());
}

const never = new Promise<never>(() => {});

/** Starts an effect of a task and dies in it; answers the token that it died with. */
export async function dieInEffect(yard: Yard, name: string, taskId: number, effect = 'merge_pr'): Promise<number> {
  const worker = yard.start(name);
  const own = journalled(worker);
  await ok(ensureSchema(own));
  const lease = await ok(acquireLease(own, { taskId, actor: 'finalizer', stage: 'deploy' }));
  let begun: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const apply = () => {
    begun();
    return never;
  };
  void runEffect(own, lease, { effect, key: 'c0ffee', apply });
  await started;
  worker.kill();
  return lease.fencingToken ?? 0;
}

/**
 * What a crash leaves: job 1 runs in a dead process and job 2 in a live one, job 3 is queued and impossible,
 * job 4 is sound; tasks 1 and 2 were broken off in an effect, and task 3 is in the hands of a live process.
 */
export async function ruins(yard: Yard) {
  const neighbour = yard.start('neighbour');
  const { pid, start, host } = neighbour.identity;
  const running = { status: 'running', run_id: 7, started_at: yard.nowMs - 5_000, host } as const;
  await yard.put({ ...running, task_id: 1, pid: 4_000, pid_start: 'gone', worker_id: 'w1' });
  await yard.put({ ...running, task_id: 3, pid, pid_start: start, worker_id: 'w2' });
  await yard.put({ status: 'queued', task_id: 2, run_id: 9, pid: 5_000, started_at: yard.nowMs - 9_000 });
  await yard.put({ status: 'queued', task_id: 2 });
  const tokens = [await dieInEffect(yard, 'first', 1), await dieInEffect(yard, 'second', 2, 'deploy')];
  const own = journalled(neighbour);
  const lease = await ok(acquireLease(own, { taskId: 3, actor: 'monitor' }));
  // Somebody moved them on by hand: nothing but the leases is left of those transitions, and their effects.
  await moveOn(yard, 1, 2);
  return { neighbour, own, lease, tokens };
}

/** Writes the stage of tasks past every lease. */
export async function moveOn(yard: Yard, ...taskIds: readonly number[]): Promise<void> {
  await sql`update tasks set stage = 'done' where id in (${sql.join(taskIds)})`.execute(yard.outside);
}

type Rows = readonly Record<string, unknown>[];

const TABLES = ['jobs', 'transition_lease', 'transition_effect'] as const;

/** Everything that recovery may change, as it stands. */
export async function standing(yard: Yard) {
  const read = async (table: (typeof TABLES)[number], order: string): Promise<Rows> => {
    const { rows } = await sql<Rows[number]>`select * from ${sql.id(table)} order by ${sql.id(order)}`.execute(
      yard.outside,
    );
    return rows;
  };
  return {
    jobs: await read('jobs', 'id'),
    leases: await read('transition_lease', 'task_id'),
    effects: await read('transition_effect', 'task_id'),
  };
}

/** Puts everything back as it stood. */
export async function restore(yard: Yard, { jobs, leases, effects }: Awaited<ReturnType<typeof standing>>) {
  for (const [at, rows] of [jobs, leases, effects].entries()) {
    const table = sql.id(TABLES[at] ?? '');
    await sql`delete from ${table}`.execute(yard.outside);
    for (const row of rows)
      await sql`insert into ${table} (${sql.join(Object.keys(row).map((name) => sql.id(name)))})
        values (${sql.join(Object.values(row))})`.execute(yard.outside);
  }
}

/** Lets nothing that a process sends be answered any more once its n-th statement has run; resolves then. */
export function killAfter(worker: Worker, statements: number): Promise<void> {
  for (let passed = 1; passed < statements; passed += 1) worker.wire.meanwhile(/./s, (run) => run());
  return new Promise((killed) => {
    worker.wire.meanwhile(/./s, async (run) => {
      await run();
      worker.wire.cut();
      killed();
      await never;
    });
  });
}
