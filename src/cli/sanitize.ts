import { findImpossibleQueued, type ImpossibleQueued, sanitizeImpossibleQueued } from 'transition-ownership';
import { neverReject } from './failed.js';
import type { Ownership } from './mapping.js';
import { type Report, report } from './report.js';
import { counted, instant, listed, table, textOf } from './text.js';

const MAX = 100_000;
const WANTED = 'The queued jobs cannot be read';

/** Clears the run of jobs that are queued and carry one. */
export async function sanitize(jobs: Ownership, dryRun: boolean): Promise<Report> {
  const done = neverReject(await sanitizeImpossibleQueued(jobs, { dryRun }), WANTED);
  const { found, skipped, unreadable } = done;
  const sanitized = dryRun ? neverReject(await findImpossibleQueued(jobs, { limit: MAX }), WANTED) : done.sanitized;
  const lines = [
    found === 0 && 'No queued job carries a run.',
    sanitized.length > 0 && jobTable(sanitized),
    found > 0 && dryRun && `\n${counted(found, 'impossible job')}. Nothing was changed.`,
    sanitized.length > 0 && !dryRun && `\n${counted(sanitized.length, 'impossible job')} cleared.`,
    skipped.length > 0 && `Left for the next time, for they changed or are locked: ${listed(skipped)}.`,
    unreadable > 0 &&
      `${counted(unreadable, 'queued job')} cannot be read, and nothing was done with them: doctor says why.`,
  ];
  const findings = unreadable > 0 || (dryRun ? found > 0 : skipped.length > 0);
  return report(findings, textOf(lines), { command: 'sanitize', dryRun, found, sanitized, skipped, unreadable });
}

/** Jobs with the runs that they were found with. */
export function jobTable(jobs: readonly ImpossibleQueued[]): string {
  const rows = jobs.map(({ jobId, taskId, runId, pid, startedAt }) => [jobId, taskId, runId, pid, instant(startedAt)]);
  return table(['job', 'task', 'run', 'pid', 'started'], rows);
}
