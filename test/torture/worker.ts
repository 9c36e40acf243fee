import { setTimeout as pause } from 'node:timers/promises';
import { err, ok } from 'neverthrow';
import {
  claimNextJob,
  createJobReaper,
  NotApplied,
  type OwnershipEvent,
  reclaimStaleLeases,
  recoverOnStartup,
  resetRunOwnership,
  sanitizeImpossibleQueued,
  stampRunOwnership,
  withTransitionLease,
} from 'transition-ownership';
import { diceOf } from './dice.js';
import { connect, MAX_RUNNING_MS, type Ownership, ownershipOf, TIMES } from './orchestrator.js';
import { Outside } from './outside.js';
import { AT_WORK, type WorkerSetup } from './setup.js';

const { address, log, seed, role, breaks } = JSON.parse(process.argv[2] ?? '{}') as WorkerSetup;
const dice = diceOf(seed);
const db = connect(address);
const ownership: Ownership = ownershipOf(db, address, tell);
const outside = new Outside(log);
let draining = false;
process.stdin.on('end', () => (draining = true)).resume();

/** Tells the supervisor what befell this process; it counts, and judges nothing by it. */
function tell(event: OwnershipEvent): void {
  if (event.severity !== 'warning' && event.severity !== 'alert') return;
  const reason = 'reason' in event && typeof event.reason === 'string' ? ` ${event.reason}` : '';
  process.stdout.write(`${event.type}${reason}\n`);
}

/** From one stage to the other: lease, effect, stage. */
function transition(taskId: number, runId: number) {
  return withTransitionLease(ownership, { taskId, runId, actor: 'finalizer' }, async (held) => {
    const { stage, round } = await db
      .selectFrom('tasks')
      .select(['stage', 'round'])
      .where('id', '=', taskId)
      .executeTakeFirstOrThrow();
    await pause(dice.between(0, 30));
    const effect = await held.runEffect({
      effect: 'release',
      ...outsideStep(taskId, `round ${round}`),
    });
    if (effect.isErr()) return err(effect.error);
    await pause(dice.chance(0.02) ? 1.2 * TIMES.maxHoldMs : dice.between(20, 200));
    const next = stage === 'deploy' ? 'done' : 'deploy';
    const set = { round: round + 1, fencing_token: held.fencingToken };
    if (breaks === 'fence') {
      await db
        .updateTable('tasks')
        .set({ stage: next, ...set })
        .where('id', '=', taskId)
        .execute();
      return ok(undefined);
    }
    const moved = await held.updateStage(next, { expected: stage, set, release: dice.chance(0.5) });
    return moved.map(() => undefined);
  });
}

/** The irreversible step; whoever takes it says in the log what it had been told about it before. */
function outsideStep(task: number, key: string) {
  let askedAt: number | null = null;
  return {
    key,
    probe: () => {
      const answer = outside.ask({ task, key });
      askedAt = answer.askedAt;
      return answer.applied ? ('applied' as const) : ('not-applied' as const);
    },
    apply: async ({ fencingToken, signal }: { fencingToken: number | null; signal: AbortSignal }) => {
      if (signal.aborted || fencingToken === null) throw new NotApplied('too late to begin');
      await pause(dice.between(0, 100)); // On its way to the outside; nothing calls it back now.
      outside.apply({ task, key, token: fencingToken, pid: process.pid, askedAt });
      await pause(dice.between(0, 20));
    },
  };
}

/** Takes the next job, and takes it to its end or back to the queue. True if it got anywhere. */
async function workOnce(): Promise<boolean> {
  const claimed = await claimNextJob(ownership);
  if (claimed.isErr() || claimed.value === null) return false;
  const job = claimed.value;
  const { jobId, taskId } = job;
  const run = { runId: process.pid * 1_000_000 + dice.below(1_000_000), pid: process.pid };
  if ((await stampRunOwnership(ownership, { job, ...run })).unwrapOr('superseded') !== 'stamped') return false;
  if (taskId === null) throw new Error(`job ${jobId} is about no task`);
  const moved = await transition(taskId, run.runId);
  if (moved.isOk() && dice.chance(0.5)) await finish(jobId, taskId, run.runId);
  else void (await resetRunOwnership(ownership, { jobId, expected: run }));
  return moved.isOk();
}

/** Ends a job and queues the next about its task, by hand; in trouble it stays as it is, and the reaper finds it. */
async function finish(jobId: number, taskId: number, runId: number): Promise<void> {
  const ended = db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('jobs')
      .set({ status: 'done' })
      .where('id', '=', jobId)
      .where('run_id', '=', runId)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await trx.insertInto('jobs').values({ task_id: taskId, status: 'queued' }).execute();
  });
  await ended.catch(() => undefined);
}

/** Cleans up until nothing is left of the dead. */
async function cleanUp(): Promise<void> {
  const reaper = createJobReaper(ownership, { maxRunningMs: MAX_RUNNING_MS, finalizeGraceMs: 200, onDead: 'requeue' });
  for (;;) {
    const ticked = await reaper.tick();
    const sanitized = await sanitizeImpossibleQueued(ownership);
    const reclaimed = await reclaimStaleLeases(ownership);
    if (draining && ticked.isOk() && sanitized.isOk() && reclaimed.isOk() && (await isQuiet())) return;
    await pause(150);
  }
}

async function isQuiet(): Promise<boolean> {
  const running = await db.selectFrom('jobs').select('id').where('status', '=', 'running').execute();
  const leases = await db.selectFrom('transition_lease').select('task_id').execute();
  return running.length === 0 && leases.length === 0;
}

/** What an orchestrator does at its start, before it takes new work. */
async function recover(): Promise<void> {
  while (!draining && (await recoverOnStartup(ownership, { jobs: 'dead-only', probes: outside.probes })).isErr()) {
    await pause(100);
  }
}

await recover();
process.stdout.write(`${AT_WORK}\n`);
if (role === 'reaper') await cleanUp();
else while (!draining) if (!(await workOnce())) await pause(dice.between(10, 40));
void (await ownership.close());
await db.destroy();
