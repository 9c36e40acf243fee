import type { EventType } from './event.js';

/** What an instrument is called, counts in and means. */
export interface Metric {
  /** As OpenTelemetry spells it: `noun.noun`, under `transition_ownership.`. */
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

const metric = (name: string, unit: string, description: string): Metric =>
  Object.freeze({ name: `transition_ownership.${name}`, unit, description });

/** The counter of each type of event: one that is new does not compile before it stands here. */
export const EVENT_METRICS: { readonly [T in EventType]: Metric } = {
  'lease.acquired': metric('lease.acquisitions', '{lease}', 'Leases that were granted.'),
  'lease.busy': metric(
    'lease.refusals',
    '{refusal}',
    'Leases that were refused because another process or actor holds the task.',
  ),
  'would-refuse': metric('observed.refusals', '{refusal}', 'Leases that mode on would have refused.'),
  'would-lose': metric('observed.losses', '{conflict}', 'Stage writes that mode on would have refused.'),
  'would-skip': metric('observed.skips', '{effect}', 'Effects that mode on would not have repeated.'),
  'would-hold': metric('observed.holds', '{effect}', 'Effects that mode on would have held for a person.'),
  'task.not-found': metric('task.absences', '{refusal}', 'Leases that were refused because there is no such task.'),
  'lease.renewed': metric('lease.renewals', '{renewal}', 'Renewals of a lease.'),
  'lease.released': metric('lease.releases', '{lease}', 'Leases that were given back.'),
  'lease.reclaimed': metric('lease.reclaims', '{lease}', 'Leases of dead owners that were deleted.'),
  'lease.forced': metric('lease.forced_reclaims', '{lease}', 'Leases that were taken from an owner who may still run.'),
  'lease.lost': metric('lease.losses', '{lease}', 'Leases whose holder learned that they are no longer its own.'),
  'lease.release-failed': metric('lease.release.failures', '{failure}', 'Releases that did not reach the database.'),
  'lease.renewal-failed': metric('lease.renewal.failures', '{failure}', 'Renewals that failed or came late.'),
  'stage.changed': metric('stage.changes', '{change}', 'Stages that were written.'),
  'stage.race-lost': metric(
    'stage.conflicts',
    '{conflict}',
    'Stages that were not written, because they were not the expected ones.',
  ),
  'action.deferred': metric('action.deferrals', '{deferral}', 'Actors that had to wait.'),
  'job.claimed': metric('job.claims', '{job}', 'Queued jobs that were claimed.'),
  'job.requeued': metric('job.requeues', '{job}', 'Jobs that went back to the queue.'),
  'job.reaped': metric('job.reaps', '{job}', 'Running jobs that were taken from their run.'),
  'job.reap-failed': metric('job.reap.failures', '{failure}', 'Jobs of dead runs that could not be dealt with.'),
  'queue.impossible-found': metric(
    'queue.impossible_found',
    '{job}',
    'Queued jobs that were found with the ownership of a run.',
  ),
  'queue.sanitized': metric('queue.sanitized', '{job}', 'Such jobs that were repaired.'),
  'effect.started': metric('effect.starts', '{effect}', 'Effects that were journalled as started.'),
  'effect.applied': metric('effect.applications', '{effect}', 'Effects that are known to be applied.'),
  'effect.unknown': metric(
    'effect.unknowns',
    '{effect}',
    'Effects of which it is not known whether they were applied.',
  ),
  'effect.unrecorded': metric('effect.unrecorded', '{effect}', 'Effects that were applied and could not be recorded.'),
  'recovery.finished': metric('recovery.runs', '{run}', 'Recoveries at start-up that ended.'),
  'survey.found': metric('survey.findings', '{finding}', 'Findings about the session and the tables, each once.'),
  'store.failed': metric('store.failures', '{failure}', 'Statements that failed after their retries.'),
  'operator.acted': metric('operator.actions', '{action}', 'Acts by which an operator overruled the library.'),
};

/** The gauges: of the state of the database, which every process that watches it sees alike. */
export const GAUGES = {
  leases: metric('lease.held', '{lease}', 'Leases that are held, by the verdict on their owner.'),
  impossible: metric('queue.impossible', '{job}', 'Queued jobs that carry the ownership of a run.'),
  oldestLease: metric('lease.oldest.age', 's', 'How long the lease that was taken first has been held.'),
  queued: metric('job.queued', '{job}', 'Jobs that wait for a run.'),
  running: metric('job.running', '{job}', 'Jobs that a run has.'),
  oldestJob: metric('job.oldest.age', 's', 'How long the run that started first has been going on.'),
  unfinished: metric('effect.unfinished', '{effect}', 'Effects that were started and whose end is not known.'),
} as const;

/** The histograms, in seconds: of what this process did, measured by its own clock. */
export const HISTOGRAMS = {
  hold: metric('lease.hold.duration', 's', 'How long leases were held until they were given back or lost.'),
  wait: metric('lease.wait.duration', 's', 'How long an actor waited for a lease that somebody held.'),
  effect: metric('effect.duration', 's', 'How long effects took, from their start to the word on their outcome.'),
  recovery: metric('recovery.duration', 's', 'How long recoveries took.'),
} as const;

/** The age of the oldest lease; 0 if there is none, so that an alert on it ends. */
export function oldestLeaseMs(leases: readonly { readonly ageMs: number | null }[]): number {
  return leases.reduce((oldest, { ageMs }) => Math.max(oldest, ageMs ?? 0), 0);
}
