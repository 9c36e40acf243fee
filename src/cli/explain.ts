import type { AssessedEffect, ImpossibleQueued, LeaseSnapshot, VerdictReason } from 'transition-ownership';
import { counted, duration, instant, owner } from './text.js';

/** One thing that the doctor has to say. */
export interface Diagnosis {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'advice';
  /** What was seen and what to do. */
  readonly message: string;
  readonly taskId?: unknown;
  readonly fencingToken?: number | null;
  readonly jobId?: unknown;
  readonly effect?: string;
  readonly key?: string;
}

const DELETED = 'Whoever asks for the task next takes it over; recover deletes the lease now.';

/** What each reason means, and what follows. */
const MEANINGS: Partial<Readonly<Record<VerdictReason, string>>> = {
  'over-budget': `it was held for longer than its maxHoldMs, and its owner may still run. ${DELETED}`,
  expired: `it was not renewed in time, and its owner may still run. ${DELETED}`,
  'process-gone': `the process is gone. ${DELETED}`,
  'pid-reused': `the pid belongs to another process now, which has nothing to do with it. ${DELETED}`,
  'clock-set-back':
    'it expires later than its own TTL from now, so the clock of the database was set back. It counts as live until one observer has seen it unchanged for a TTL, as watch does; if its owner is certainly gone, release it.',
  unreadable: 'its times cannot be read. No one takes it over: look at the row, and release it if its owner is gone.',
};

/** Explains a lease that wants attention. */
export function explainLease(lease: LeaseSnapshot): Diagnosis {
  const { taskId, fencingToken, actor, stage, reason, verdict, ageMs } = lease;
  const held = `Task ${taskId}${stage === null ? '' : ` in ${stage}`} is held by ${actor} (token ${fencingToken}, ${owner(lease)}) for ${duration(ageMs)}`;
  const message = `${held}: ${MEANINGS[reason] ?? `${verdict}. ${DELETED}`}`;
  return { code: `lease-${reason}`, severity: 'warning', message, taskId, fencingToken };
}

/** Explains a queued job that carries a run. */
export function explainImpossible(job: ImpossibleQueued): Diagnosis {
  const message = `${named(job)} is queued and yet carries ${runOf(job)}: a reaper could take a stranger's process for its own. sanitize clears it.`;
  return { code: 'impossible-queued', severity: 'warning', message, jobId: job.jobId, taskId: job.taskId };
}

/** Explains a running job whose process is gone. */
export function explainDeadRun(job: ImpossibleQueued): Diagnosis {
  const message = `${named(job)} is running by ${runOf(job)}, and that process is gone. The reaper of your application takes it from its run; recover queues it now.`;
  return { code: 'dead-run', severity: 'warning', message, jobId: job.jobId, taskId: job.taskId };
}

/** Explains queued and running jobs whose rows cannot be read. */
export function explainUnreadable(jobs: number): readonly Diagnosis[] {
  if (jobs === 0) return [];
  const message = `${counted(jobs, 'queued or running job')} cannot be read: an id is not of the type that was said, or a run id or a pid is none. No claim takes them and no reaper ends them: say jobs.idType 'bigint' if the ids are larger than 2^53 - 1, else mend the rows.`;
  return [{ code: 'unreadable-job', severity: 'error', message }];
}

const named = ({ jobId, taskId }: ImpossibleQueued): string =>
  `Job ${jobId}${taskId === null ? '' : ` of task ${taskId}`}`;

function runOf({ runId, pid, startedAt }: ImpossibleQueued): string {
  const started = instant(startedAt);
  const parts = [
    runId !== null && `run ${runId}`,
    pid !== null && `pid ${pid}`,
    started !== null && `a start at ${started}`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/** Explains an effect that was started and whose end is not known. */
export function explainEffect(taskId: unknown, { effect, key, fencingToken, startedAtMs }: AssessedEffect): Diagnosis {
  const started = startedAtMs === null ? '' : ` at ${new Date(startedAtMs).toISOString()}`;
  const message = `The effect ${effect} (${key}) of task ${String(taskId)} was started${started} under token ${String(fencingToken)}, no one is working on it, and its end is not known. Look in the outside system and say what you saw with resolveEffect, or let your application ask its probe; it is not repeated on a guess.`;
  return { code: 'unfinished-effect', severity: 'warning', message, taskId, fencingToken, effect, key };
}
