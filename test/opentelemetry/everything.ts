import {
  acquireLease,
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  ensureSchema,
  forceReleaseLease,
  type Listener,
  type Mode,
  recoverOnStartup,
  releaseLease,
  resetRunOwnership,
  runEffect,
  sanitizeImpossibleQueued,
  shouldDefer,
  updateStageCas,
} from 'transition-ownership';
import { failure, ok } from '../job/proofs.js';
import { mapped, type Worker, type Yard } from '../job/yard.js';

/** An ownership with jobs and a journal that tells its events to an observer. */
export function observed(worker: Worker, onEvent: Listener, mode: Mode = 'on') {
  return createTransitionOwnership({ ...worker.base(), jobs: mapped, effects: {}, onEvent, mode });
}

/** One process of real work and real trouble: an event of every type there is. */
export async function everything(yard: Yard, worker: Worker, onEvent: Listener): Promise<void> {
  const own = observed(worker, onEvent);
  await ok(ensureSchema(own));

  const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', stage: 'deploy', runId: 7 }));
  await failure(acquireLease(own, { taskId: 1, actor: 'monitor' }));
  await failure(acquireLease(own, { taskId: 77, actor: 'webhook' }));
  await ok(shouldDefer(own, 1));
  await yard.advance(10_000);
  worker.wire.fault(/^update .transition_lease./, 'refused');
  await yard.advance(10_000);
  worker.wire.mend();
  await ok(runEffect(own, lease, { effect: 'merge_pr', key: 'c0ffee', apply: () => ({ merged: true }) }));
  const hangUp = () => Promise.reject(new Error('hang up'));
  await failure(runEffect(own, lease, { effect: 'deploy', key: 'c0ffee', apply: hangUp }));
  worker.wire.fault(/^update .transition_effect. set .state. = 'applied'/, 'refused');
  await failure(runEffect(own, lease, { effect: 'tag', key: 'c0ffee', apply: () => {} }));
  worker.wire.mend();
  const watching = observed(worker, onEvent, 'observe');
  const seen = await ok(acquireLease(watching, { taskId: 1, actor: 'monitor' }));
  await ok(runEffect(watching, seen, { effect: 'merge_pr', key: 'c0ffee', apply: () => {} }));
  await failure(runEffect(watching, seen, { effect: 'deploy', key: 'c0ffee', apply: hangUp }));
  await ok(releaseLease(watching, seen));
  await ok(updateStageCas(own, { taskId: 1, expected: 'deploy', next: 'done', lease }));
  await ok(updateStageCas(watching, { taskId: 1, expected: 'deploy', next: 'done' }));
  await failure(updateStageCas(own, { taskId: 1, expected: 'deploy', next: 'done', lease }));
  await ok(releaseLease(own, lease));
  await ok(releaseLease(own, await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }))));

  await ok(acquireLease(own, { taskId: 2, actor: 'monitor', maxHoldMs: 5_000 }));
  await yard.freeze(5_000);
  const heir = await ok(acquireLease(own, { taskId: 2, actor: 'reaper' }));
  worker.wire.fault(/^delete from .transition_lease./, 'refused');
  await failure(releaseLease(own, heir));
  worker.wire.mend();

  const { fencingToken } = await ok(acquireLease(own, { taskId: 3, actor: 'monitor' }));
  await ok(forceReleaseLease(own, { taskId: 3, fencingToken: fencingToken ?? 0, by: 'ada', reason: 'it hangs' }));

  await jobs(yard, worker, own);
  await ok(recoverOnStartup(own, { jobs: 'dead-only' }));
}

async function jobs(yard: Yard, { identity }: Worker, own: ReturnType<typeof observed>): Promise<void> {
  await yard.put({ task_id: 3 });
  const claimed = await ok(claimNextJob(own));
  await ok(resetRunOwnership(own, { jobId: claimed?.jobId ?? 0, expected: 'any' }));
  const impossible = await yard.put({ run_id: 9, pid: 5_000, started_at: yard.nowMs });
  await ok(sanitizeImpossibleQueued(own));
  await yard.set(impossible, { status: 'done' });

  const { host } = identity;
  const dead = { status: 'running', run_id: 7, started_at: yard.nowMs, host, pid: 4_000, pid_start: 'gone' } as const;
  const [sound] = [await yard.put(dead), await yard.put(dead)];
  const reaper = createJobReaper(own, {
    maxRunningMs: 3_600_000,
    deadTicks: 1,
    finalizeGraceMs: 0,
    onDead: ({ jobId }) => {
      if (jobId !== sound) throw new Error('the hook is broken');
      return 'requeue';
    },
  });
  await ok(reaper.tick());
}
