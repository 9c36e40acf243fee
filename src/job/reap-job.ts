import { err, ok, type Result } from 'neverthrow';
import { reasonOf } from '../core/fail.js';
import { inspectValue } from '../core/inspect-value.js';
import { mayReclaim } from '../core/mode.js';
import { given, type RulesOf, requestOf } from '../core/request.js';
import { tryCall } from '../core/try-call.js';
import { reclaim } from '../lease-row/reclaim.js';
import { NOTHING, type Part } from '../sql/callers-parts.js';
import type { JobSettings } from '../sql/job-columns.js';
import { checkSet, writtenByRequeue } from './callers-columns.js';
import { factsOf } from './jobs-of.js';
import { moveJob } from './move-job.js';
import type { DeadJob, ReapDecision, ReapPlan } from './reaper-options.js';
import type { Assessed, Ticking } from './running-evidence.js';

/** What was done with a job that was to be reaped. */
export type Reaped = 'reaped' | 'left' | 'changed-meanwhile';

/** Takes a job from its dead run as the caller decides, if it is just as it was seen; returns why it could not. */
export async function reapJob(ticking: Ticking, assessed: Assessed, forced: boolean): Promise<Result<Reaped, string>> {
  const { context, jobs, plan } = ticking;
  const { job } = assessed;
  const reason = forced ? 'running-too-long' : 'process-gone';
  const decided = await decide(plan, jobs.settings, { ...assessed.shown, reason, forced });
  if (decided.isErr()) return err(decided.error);
  if (decided.value === 'leave') return ok('left');
  const { status: to, set } = decided.value;

  // The lease before the job, as everywhere; a lease store in trouble does not stop what is overdue.
  if (assessed.lease !== undefined && mayReclaim(context.mode())) void (await reclaim(context, assessed.lease));
  const { queued, running: from } = jobs.settings.statuses;
  const moved = await moveJob(context, jobs, { job, from, to, set });
  if (moved.isErr()) return err(moved.error.message);
  if (!moved.value) return ok('changed-meanwhile');
  context.observer.emit('job.reaped', { ...factsOf(job), reason, forced });
  if (to === queued) context.observer.emit('job.requeued', { ...factsOf(job), by: 'reaper' });
  return ok('reaped');
}

type Decided = 'leave' | { readonly status: string; readonly set: Part };

async function decide(plan: ReapPlan, settings: JobSettings, job: DeadJob): Promise<Result<Decided, string>> {
  const answered = await tryCall(async () => decided(await plan.onDead(Object.freeze(job)), settings), reasonOf);
  return answered.isOk() ? ok(answered.value as Decided) : err(`onDead failed: ${String(answered.error)}`);
}

const checkDecision = requestOf(
  { status: given, set: given } satisfies RulesOf<Extract<ReapDecision, object>>,
  'the decision of onDead',
);

/** A decision in full; throws for one that cannot be carried out. */
function decided(decision: unknown, settings: JobSettings): Decided {
  const { statuses } = settings;
  if (decision === 'leave') return decision;
  if (decision === 'requeue') return { status: statuses.queued, set: NOTHING };
  if (decision === 'fail') return { status: statuses.failed, set: NOTHING };
  if (typeof decision !== 'object') {
    throw new TypeError(
      `onDead must return "requeue", "fail", "leave" or { status, set }, got ${inspectValue(decision)}`,
    );
  }
  const { status, set = {} } = checkDecision(decision);
  if (typeof status !== 'string' || status === '' || status === statuses.running) {
    throw new TypeError(
      `onDead must return a status other than ${inspectValue(statuses.running)}, got ${inspectValue(status)}`,
    );
  }
  return { status, set: checkSet(set, settings, writtenByRequeue(settings)) };
}
