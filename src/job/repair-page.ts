import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { SeenJob } from '../core/job.js';
import { NOTHING } from '../sql/callers-parts.js';
import { execute } from '../sql/execute.js';
import type { Reset } from '../sql/job-returns.js';
import { eachOnce, metMore } from '../sql/one-row.js';
import type { Session } from '../sql/session.js';
import type { Jobs } from './jobs-of.js';
import { moveJob } from './move-job.js';
import { inOneCommit } from './one-commit.js';

/** Jobs that are repaired in one commit. */
const CHUNK = 500;

/**
 * Clears the run ownership of those jobs that are just as they were found, and returns which: many in one
 * commit, or, where one of them stands in the way, each in its own.
 */
export async function repairPage(
  context: Context,
  jobs: Jobs,
  page: readonly SeenJob[],
): Promise<Result<ReadonlySet<IdValue>, StoreFailure>> {
  const repaired = new Set<IdValue>();
  for (let at = 0; at < page.length; at += CHUNK) {
    const chunk = page.slice(at, at + CHUNK);
    const together = await repairTogether(context.session, jobs, chunk);
    if (together.isErr() && together.error.kind === 'connection') return err(together.error);
    const each = together.isOk() ? together : await repairEach(context, jobs, chunk);
    if (each.isErr()) return err(each.error);
    for (const jobId of each.value) repaired.add(jobId);
  }
  return ok(repaired);
}

/** Locks the rows that no one has locked, compares them with what was found, and clears those that are the same. */
async function repairTogether(
  session: Session,
  { statements, settings, readSeen, keyed }: Jobs,
  found: readonly SeenJob[],
): Promise<Result<readonly IdValue[], StoreFailure>> {
  const asFound = new Map(found.map((job) => [job.jobId, job]));
  const reset: Reset = { jobIds: [...asFound.keys()], from: settings.statuses.queued, expected: 'any', set: NOTHING };
  if (reset.jobIds.length === 0) return ok([]);
  return inOneCommit(session, async (inside) => {
    const locked = await execute(inside, statements.lockFree(reset), 'once');
    if (locked.isErr()) return err(locked.error);
    const same = locked.value.rows.map(readSeen).filter((job) => isSame(job, asFound.get(job.jobId)));
    const jobIds = same.map(({ jobId }) => jobId);
    if (jobIds.length === 0) return ok([]);
    const write = (over: Session) => execute(over, statements.resetLocked({ ...reset, jobIds }), 'once');
    const written = await eachOnce(inside, keyed(), write, metMore(jobIds.length));
    return written.map(() => jobIds);
  });
}

function isSame(now: SeenJob, before: SeenJob | undefined): boolean {
  const { runId, pid, started, claim } = before ?? {};
  return now.runId === runId && now.pid === pid && now.started === started && now.claim === claim;
}

/** A job whose repair fails is left for the next pass. */
async function repairEach(
  context: Context,
  jobs: Jobs,
  found: readonly SeenJob[],
): Promise<Result<readonly IdValue[], StoreFailure>> {
  const { queued } = jobs.settings.statuses;
  const repaired: IdValue[] = [];
  for (const job of found) {
    const moved = await moveJob(context, jobs, { job, from: queued, to: queued, set: NOTHING });
    if (moved.isErr() && moved.error.kind === 'connection') return err(moved.error);
    if (moved.unwrapOr(false)) repaired.push(job.jobId);
  }
  return ok(repaired);
}
