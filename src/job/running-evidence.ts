import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { reasonOf } from '../core/fail.js';
import { inspectValue } from '../core/inspect-value.js';
import type { JobRecord } from '../core/job.js';
import type { JobProcess } from '../core/job-process.js';
import { assessRunningJob, type RunningAssessment } from '../core/reap.js';
import type { ReapMemory, Tick } from '../core/reap-memory.js';
import { tryCall } from '../core/try-call.js';
import type { Judged } from '../lease-row/judge-holder.js';
import type { UnreadableJob } from '../sql/job-rows.js';
import { TOO_LATE, withTimeout } from '../system/with-timeout.js';
import { toFound } from './found-job.js';
import type { Jobs } from './jobs-of.js';
import { holderOf, leaseOf, leasesOf } from './lease-evidence.js';
import { processOf } from './process-evidence.js';
import type { ReapPlan, RunningJob } from './reaper-options.js';

/** A running job with what a tick made of it. */
export interface Assessed {
  readonly job: JobRecord;
  readonly shown: RunningJob;
  readonly assessment: RunningAssessment;
  /** Why it is not known whether its process lives, if the caller's probe failed. */
  readonly probeFailed: string | undefined;
  /** The lease on its task, where one was read. */
  readonly lease: Judged | undefined;
}

/** Where a tick is. */
export interface Ticking {
  readonly context: Context;
  readonly jobs: Jobs;
  readonly plan: ReapPlan;
  readonly memory: ReapMemory;
  readonly tick: Tick;
}

/** Gathers the evidence on a page of running jobs, and decides on each. */
export async function assessPage(ticking: Ticking, page: readonly JobRecord[]): Promise<readonly Assessed[]> {
  const { context, plan, memory, tick } = ticking;
  const sighted = [];
  for (const job of page) {
    const run = runOf(job);
    const runningForMs = job.startedAtMs === null ? memory.seenForMs(tick, run) : job.nowMs - job.startedAtMs;
    const shownJob: RunningJob = Object.freeze({
      ...toFound(job),
      startedAtMs: job.startedAtMs,
      runningForMs,
      row: job.row,
    });
    // A job that ran too long is reaped whatever its process does: no one need be asked.
    const overdue = runningForMs > plan.limits.maxRunningMs;
    const answer = overdue ? ok('unknown' as const) : await lookUp(ticking, job, shownJob);
    const process = answer.unwrapOr('unknown');
    const suspicion = process === 'dead' ? memory.suspect(tick, run) : { deadTicks: 0, deadForMs: 0 };
    sighted.push({ job, shown: shownJob, evidence: { pid: job.pid, process, runningForMs, ...suspicion }, answer });
  }
  const asked = sighted.filter(
    ({ evidence }) => evidence.process === 'dead' || evidence.runningForMs > plan.limits.maxRunningMs,
  );
  const leases = await leasesOf(
    context,
    asked.map(({ job }) => job),
  );
  return sighted.map(({ job, shown: shownJob, evidence, answer }) => ({
    job,
    shown: shownJob,
    assessment: assessRunningJob({ ...evidence, lease: leaseOf(leases, job) }, plan.limits),
    probeFailed: answer.isErr() ? answer.error : undefined,
    lease: holderOf(leases, job),
  }));
}

/** Reports a job that has run too long and cannot be reaped, for its row cannot be read. */
export function reportOverdue({ context, plan, memory, tick }: Ticking, job: UnreadableJob): void {
  const { id, started, startedAtMs, nowMs } = job;
  const seenForMs = memory.seenForMs(tick, JSON.stringify([id, started]));
  const runningForMs = startedAtMs === null || nowMs === null ? seenForMs : nowMs - startedAtMs;
  const { maxRunningMs } = plan.limits;
  if (runningForMs <= maxRunningMs) return;
  const message = `it has run for ${runningForMs} ms, longer than maxRunningMs ${maxRunningMs}, and no one can reap it: its row cannot be read`;
  context.observer.emit('job.reap-failed', { jobId: id, taskId: null, runId: null, pid: null, message });
}

/** What distinguishes one run of a job from every other. */
function runOf({ jobId, runId, pid, started, claim }: JobRecord): string {
  return JSON.stringify([String(jobId), String(runId), pid, started, claim]);
}

const ANSWERS: readonly unknown[] = ['alive', 'dead', 'unknown'] satisfies JobProcess[];

async function lookUp(
  { context, jobs, plan }: Ticking,
  job: JobRecord,
  shownJob: RunningJob,
): Promise<Result<JobProcess, string>> {
  const { probe, probeTimeoutMs } = plan;
  if (probe === undefined || job.pid === null) return ok(processOf(context, jobs.settings, job));
  const answered = await tryCall(() => withTimeout(context.ports.clock, probeTimeoutMs, probe(shownJob)), reasonOf);
  if (answered.isErr()) return err(`the probe failed: ${inspectValue(answered.error)}`);
  if (answered.value === TOO_LATE) return err(`the probe did not return within ${probeTimeoutMs} ms`);
  return ANSWERS.includes(answered.value)
    ? ok(answered.value as JobProcess)
    : err(`the probe must return "alive", "dead" or "unknown", got ${inspectValue(answered.value)}`);
}
