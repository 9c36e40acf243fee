import { setTimeout as pause } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { forceReleaseLease } from 'transition-ownership';
import type { Fleet } from './fleet.js';
import { type Ownership, TIMES } from './orchestrator.js';
import { type Fault, type FaultKind, planOf } from './plan.js';
import type { Server } from './server/server.js';
import type { Tables } from './tables.js';

/** Whom and what the faults befall. */
export interface Victims {
  readonly server: Server;
  readonly db: Kysely<Tables>;
  readonly ownership: Ownership;
  readonly fleet: Fleet;
}

/** How often a fault took place, and how often it met the holder of a lease. */
export interface Count {
  readonly times: number;
  readonly atHolder: number;
}

interface Holder {
  readonly taskId: number;
  readonly fencingToken: number;
  readonly pid: number;
}

/** Carries out a plan. Answers how often each fault took place: none of the plan may be missing. */
export async function torment(
  victims: Victims,
  options: { readonly seed: number; readonly forMs: number },
): Promise<ReadonlyMap<FaultKind, Count>> {
  const { seed, forMs } = options;
  const plan = planOf({ seed, forMs, ttlMs: TIMES.ttlMs, restarts: victims.server.restart !== undefined });
  const counts = new Map<FaultKind, Count>(plan.map(({ kind }) => [kind, { times: 0, atHolder: 0 }]));
  const startedMs = performance.now();
  for (const fault of plan) {
    const elapsedMs = performance.now() - startedMs;
    if (elapsedMs > forMs) break;
    await pause(Math.max(0, fault.atMs - elapsedMs));
    const met = await strike(victims, fault);
    const { times, atHolder } = counts.get(fault.kind) ?? { times: 0, atHolder: 0 };
    if (met !== 'nobody') counts.set(fault.kind, { times: times + 1, atHolder: atHolder + (met === 'holder' ? 1 : 0) });
  }
  await pause(Math.max(0, forMs - (performance.now() - startedMs)));
  return counts;
}

/** One fault; whom it met. */
async function strike(victims: Victims, fault: Fault): Promise<'holder' | 'somebody' | 'nobody'> {
  const { server, db, fleet } = victims;
  const { kind, victim, aimed, lastsMs } = fault;
  switch (kind) {
    case 'kill':
    case 'stop': {
      const holder = aimed ? await holderOf(db, victim) : undefined;
      const number = fleet.find(holder?.pid, victim);
      const struck = kind === 'kill' ? fleet.kill(number) : fleet.stop(number, lastsMs);
      if (!struck) return 'nobody';
      return holder === undefined ? 'somebody' : 'holder';
    }
    case 'restart':
      await server.restart?.(lastsMs % 2 === 0 ? 'order' : 'crash');
      return 'somebody';
    case 'release':
      return release(victims, victim);
    case 'plant':
      return plant(db, victim);
  }
}

/** Who holds a lease now; `undefined` if nobody does, or the database does not answer. */
async function holderOf(db: Kysely<Tables>, victim: number): Promise<Holder | undefined> {
  const holders = await db
    .selectFrom('transition_lease')
    .select(['task_id', 'fencing_token', 'owner_pid'])
    .orderBy('task_id')
    .execute()
    .catch(() => []);
  const holder = holders[victim % holders.length];
  if (holder === undefined) return undefined;
  const { task_id: taskId, fencing_token: fencingToken, owner_pid: pid } = holder;
  return { taskId: Number(taskId), fencingToken: Number(fencingToken), pid: Number(pid) };
}

/** An operator takes the lease that was just seen; its owner may have given it back meanwhile. */
async function release({ db, ownership }: Victims, victim: number): Promise<'holder' | 'nobody'> {
  for (let tries = 0; tries < 300; tries += 1) {
    const holder = await holderOf(db, victim + tries);
    if (holder !== undefined) {
      const { taskId, fencingToken } = holder;
      const order = { taskId, fencingToken, by: 'the tormentor', reason: 'torture' };
      const released = await forceReleaseLease(ownership, order);
      if (released.isOk()) return 'holder';
    }
    await pause(10);
  }
  return 'nobody';
}

/** Leaves a queued job that names a run, as a program without this library would. */
async function plant(db: Kysely<Tables>, victim: number): Promise<'somebody' | 'nobody'> {
  const tasks = await db
    .selectFrom('tasks')
    .select('id')
    .orderBy('id')
    .execute()
    .catch(() => []);
  const task = tasks[victim % tasks.length];
  if (task === undefined) return 'nobody';
  const planted = db
    .insertInto('jobs')
    .values({ task_id: task.id, status: 'queued', run_id: victim, pid: process.pid })
    .execute();
  return planted.then(
    () => 'somebody',
    () => 'nobody',
  );
}
