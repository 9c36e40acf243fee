import {
  acquireLease,
  acquireLeases,
  claimNextJob,
  createJobReaper,
  forceReleaseLease,
  inspectLease,
  reclaimStaleLeases,
  recoverOnStartup,
  releaseLease,
  releaseLeases,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import type { Process, ProcessMain } from 'transition-ownership/testing';
import { ownershipOf, type Tables } from './yard.js';

type Actor = ProcessMain<Tables>;

/** The outside world of a schedule: plain data that its scenario resets. */
export const outside = { deployed: false };

/** Moves the task under its lease, and gives the lease back by itself or in the same commit. */
export const mover =
  (release: boolean): Actor =>
  async (process) => {
    const request = { taskId: 1, actor: process.name, stage: 'deploy' } as const;
    const moved = await withTransitionLease(ownershipOf(process), request, async (held) => {
      await process.work();
      return held.updateStage('done', { release });
    });
    return moved.isOk() ? 'moved' : moved.error.type;
  };

/** The same, and says in which stage its handler met the task. */
export const looker: Actor = async (process) => {
  const request = { taskId: 1, actor: process.name, stage: 'deploy' } as const;
  const moved = await withTransitionLease(ownershipOf(process), request, async (held) => {
    const task = await process.db.selectFrom('tasks').select('stage').where('id', '=', 1).executeTakeFirstOrThrow();
    process.ghost({ handled: task.stage });
    return held.updateStage('done');
  });
  return moved.isOk() ? 'moved' : moved.error.type;
};

/** Holds the task over two pieces of work, and asks for time between them. */
export const holder: Actor = async (process) => {
  const ended = await withTransitionLease(ownershipOf(process), { taskId: 1, actor: process.name }, async (held) => {
    await process.work();
    const ready = await held.ensure(1_000);
    if (ready.isErr()) return ready;
    await process.work();
    return ready;
  });
  return ended.isOk() ? 'held' : ended.error.type;
};

/** Writes the stage without a lease, as a webhook does. */
export const webhook: Actor = async (process) => {
  const moved = await updateStageCas(ownershipOf(process), { taskId: 1, expected: 'deploy', next: 'done' });
  return moved.isOk() ? 'moved' : moved.error.type;
};

/** Two actors of one process: two contenders. */
export const twoInOne: Actor = async (process) => {
  const ownership = ownershipOf(process);
  const one = async (actor: string): Promise<string> => {
    const lease = await acquireLease(ownership, { taskId: 1, actor });
    if (lease.isErr()) return lease.error.type;
    process.ghost({ begins: actor });
    await process.work();
    process.ghost({ ends: actor });
    return (await releaseLease(ownership, lease.value)).unwrapOr('superseded');
  };
  return Promise.all([one('monitor'), one('webhook')]);
};

/** Takes both tasks in one call, and gives them back in one. */
export const batcher: Actor = async (process) => {
  const ownership = ownershipOf(process);
  const requests = [2, 1].map((taskId) => ({ taskId, actor: process.name }));
  const taken = await acquireLeases(ownership, requests);
  if (taken.isErr()) return taken.error.type;
  await process.work();
  void (await releaseLeases(ownership, taken.value.acquired));
  return taken.value.acquired.length;
};

/** Removes the leases of the dead. */
export const reclaimer: Actor = async (process) => {
  const reclaimed = await reclaimStaleLeases(ownershipOf(process));
  return reclaimed.map((report) => report.reclaimed.length).unwrapOr(-1);
};

/** Takes the lease from whoever has it, by the token that was seen. */
export const operator: Actor = async (process) => {
  const ownership = ownershipOf(process);
  const seen = (await inspectLease(ownership, 1)).unwrapOr({ state: 'free' } as const);
  if (seen.state === 'free') return 'free';
  const order = { taskId: 1, fencingToken: seen.holder.fencingToken, by: 'ann', reason: 'stuck' };
  const forced = await forceReleaseLease(ownership, order);
  return forced.isOk() ? 'forced' : forced.error.type;
};

/** Runs an effect under the lease, and moves the stage; with or without a probe of the outside. */
export const deployer =
  (probes: boolean): Actor =>
  async (process) => {
    const request = { taskId: 1, actor: process.name, stage: 'deploy' } as const;
    const probe = () => process.effect('GET /deploy', () => (outside.deployed ? 'applied' : 'not-applied'));
    const moved = await withTransitionLease(ownershipOf(process), request, async (held) => {
      const applied = await held.runEffect({
        effect: 'deploy',
        key: 'sha',
        ...(probes && { probe }),
        apply: () => deploy(process),
      });
      return applied.asyncAndThen(() => held.updateStage('done'));
    });
    return moved.isOk() ? 'moved' : moved.error.type;
  };

const deploy = (process: Process<Tables>): Promise<void> =>
  process.effect('deploy', () => {
    outside.deployed = true;
  });

/** Claims a job, stamps it, works, and fails: back to the queue. */
export const worker: Actor = async (process) => {
  const ownership = ownershipOf(process);
  const job = (await claimNextJob(ownership)).unwrapOr(null);
  if (job === null) return 'no job';
  const run = { runId: process.pid, pid: process.pid };
  const stamped = await stampRunOwnership(ownership, { job, ...run });
  if (stamped.unwrapOr('superseded') !== 'stamped') return 'superseded';
  await process.work();
  const reset = await resetRunOwnership(ownership, { jobId: job.jobId, expected: run });
  return reset.map((report) => report.reset.length).unwrapOr(-1);
};

/** Claims a job, stamps it, works, and finishes it, if it is still its own. */
export const finisher: Actor = async (process) => {
  const ownership = ownershipOf(process);
  const job = (await claimNextJob(ownership)).unwrapOr(null);
  if (job === null) return 'no job';
  const run = { runId: process.pid, pid: process.pid };
  const stamped = await stampRunOwnership(ownership, { job, ...run });
  if (stamped.unwrapOr('superseded') !== 'stamped') return 'superseded';
  await process.work();
  const mine = process.db.updateTable('jobs').set({ status: 'done' }).where('id', '=', job.jobId);
  const ended = await mine.where('status', '=', 'running').where('run_id', '=', run.runId).executeTakeFirst();
  return ended.numUpdatedRows === 1n ? 'finished' : 'superseded';
};

/** Ticks a reaper as often as it takes to call a process dead. */
export const reaper: Actor = async (process) => {
  const ticks = createJobReaper(ownershipOf(process), {
    deadTicks: 1,
    finalizeGraceMs: 1,
    maxRunningMs: 120_000,
    onDead: 'requeue',
  });
  void (await ticks.tick());
  await process.clock.sleep(1_000);
  return (await ticks.tick()).map(({ reaped }) => reaped).unwrapOr(-1);
};

/** Repairs impossible jobs. */
export const sanitizer: Actor = async (process) => {
  const repaired = await sanitizeImpossibleQueued(ownershipOf(process));
  return repaired.map(({ sanitized }) => sanitized.length).unwrapOr(-1);
};

/** Starts up as an orchestrator does. */
export const starter: Actor = async (process) => {
  const recovered = await recoverOnStartup(ownershipOf(process), { jobs: 'dead-only' });
  return recovered.isOk();
};
