import { type RecoveryReport, recoverOnStartup, type ShapeWithJobs } from 'transition-ownership';
import { neverReject } from './failed.js';
import type { Ownership } from './mapping.js';
import { type Report, report } from './report.js';
import { jobTable } from './sanitize.js';
import { counted, listed, owner, table, textOf } from './text.js';

/** What a recovery of the whole would do, or did. */
export type Recovery = RecoveryReport<ShapeWithJobs>;

/** What a recovery would do; changes nothing. */
export async function foresee(ownership: Ownership, wanted: string): Promise<Recovery> {
  return neverReject(await recoverOnStartup(ownership, { jobs: 'dead-only', dryRun: true }), wanted);
}

/**
 * Recovers what dead processes left behind, and never what may belong to a living one.
 *
 * Looks before it acts: where a part cannot be read, nothing is changed.
 */
export async function recover(ownership: Ownership, dryRun: boolean, pidsCount: boolean): Promise<Report> {
  const foreseen = await foresee(ownership, 'Nothing was changed');
  const done = dryRun
    ? foreseen
    : neverReject(
        await recoverOnStartup(ownership, { jobs: 'dead-only' }),
        'The recovery is not complete, begin it again',
      );
  const { jobs, sanitized, reclaimed, skipped, transitions, underWay, unreadable, complete } = done;
  const work = (jobs?.requeued.length ?? 0) + (sanitized?.found ?? 0) + reclaimed.length;
  const left = !complete || transitions.length > 0;
  const leases = reclaimed.map(publicLease);
  const document = {
    command: 'recover',
    dryRun,
    jobs,
    sanitized,
    reclaimed: leases,
    skipped: skipped.map(({ claim: _, ...lease }) => lease),
    transitions: transitions.map(({ lease, ...transition }) => ({ ...transition, lease: lease && publicLease(lease) })),
    underWay,
    unreadable,
    complete,
  };
  return report(left || (dryRun && work > 0), recoveryText(done, dryRun, pidsCount), document);
}

function recoveryText(recovery: Recovery, dryRun: boolean, pidsCount: boolean): string {
  const { jobs, sanitized, reclaimed, skipped, transitions, underWay, unreadable } = recovery;
  const left = [...(jobs?.skipped ?? []), ...(sanitized?.skipped ?? [])];
  const would = dryRun ? ' would be' : '';
  return textOf([
    jobs === null && NO_JOBS,
    jobs !== null &&
      `${counted(jobs.requeued.length, 'job')} of dead runs${would} queued again; ${jobs.kept.length} kept.`,
    jobs !== null && jobs.requeued.length > 0 && `${jobTable(jobs.requeued)}\n`,
    jobs !== null && jobs.kept.length > 0 && !pidsCount && `${PIDS}\n`,
    sanitized !== null && `${counted(sanitized.found, 'impossible queued job')}${would} cleared.`,
    sanitized !== null && sanitized.sanitized.length > 0 && `${jobTable(sanitized.sanitized)}\n`,
    `${counted(reclaimed.length, 'lease')} of dead owners${would} deleted.`,
    reclaimed.length > 0 && `${reclaimedTable(reclaimed)}\n`,
    left.length > 0 && `Jobs left for the next time, for they changed or are locked: ${listed(left)}.`,
    skipped.length > 0 && `Leases left for the next time: ${listed(skipped.map(({ taskId }) => taskId))}.`,
    unreadable > 0 && `${counted(unreadable, 'job')} cannot be read, and nothing was done with them: doctor says why.`,
    `${counted(transitions.length, 'transition')} broken off; ${underWay.length} under way.`,
    transitions.length > 0 && `${effectTable(transitions)}\n${LOOK}`,
    dryRun && 'Nothing was changed.',
  ]);
}

/** What is said where no jobs are named, or none are found under their usual names. */
export const NO_JOBS = 'No jobs were looked at: --config says where they are.';
/** What is said where the pids of jobs were not taken for evidence. */
export const PIDS = 'Bare pids of job rows prove nothing here: if they are those of this host, say --this-host.';
const LOOK =
  'Look in the outside system and say what you saw with resolveEffect, or let your application ask its probes at its start.';

/** The claim is what a fence goes by: nobody is shown it. */
function publicLease({ claim: _, ...lease }: Recovery['reclaimed'][number]) {
  return lease;
}

function reclaimedTable(reclaimed: Recovery['reclaimed']): string {
  const rows = reclaimed.map((lease) => [lease.taskId, lease.fencingToken, lease.actor, owner(lease), lease.reason]);
  return table(['task', 'token', 'actor', 'owner', 'reason'], rows);
}

function effectTable(transitions: Recovery['transitions']): string {
  const none = { effect: '-', key: '-', message: 'its owner is dead, and the stage was not written' };
  const rows = transitions.flatMap(({ taskId, effects, decision: whole, lease }) =>
    (effects.length > 0 ? effects : [{ ...none, fencingToken: lease?.fencingToken ?? null, decision: whole }]).map(
      ({ effect, key, fencingToken, decision, message }) => [taskId, effect, key, fencingToken, decision, message],
    ),
  );
  return table(['task', 'effect', 'key', 'token', 'decision', 'why'], rows);
}
