import type { Attributes } from '@opentelemetry/api';
import type { EventType, OwnershipEvent } from '../index.js';
import { knownReason } from './known-reason.js';

/** An event of one type. */
type Told<T extends EventType> = Extract<OwnershipEvent, { readonly type: T }>;

/** How events of one type are counted; attributes have few values each, so never an id or a text of somebody's. */
export interface Counting<T extends EventType> {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly attributes?: (event: Told<T>) => Attributes;
}

/** The attributes that have a value. */
function given(attributes: Readonly<Record<string, string | boolean | null>>): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
}

/** Every type of event is counted: one that is new does not compile before it stands here. */
export const COUNTINGS: { readonly [T in EventType]: Counting<T> } = {
  'lease.acquired': {
    name: 'transition_ownership.lease.acquisitions',
    unit: '{lease}',
    description: 'Leases that were granted.',
    attributes: ({ guarded, provisional }) => ({
      'transition_ownership.lease.guarded': guarded,
      'transition_ownership.lease.provisional': provisional,
    }),
  },
  'lease.busy': {
    name: 'transition_ownership.lease.refusals',
    unit: '{refusal}',
    description: 'Leases that were refused because somebody holds the task.',
    attributes: ({ verdict, reason }) => ({
      'transition_ownership.verdict': verdict,
      'transition_ownership.reason': knownReason(reason),
    }),
  },
  'task.not-found': {
    name: 'transition_ownership.task.absences',
    unit: '{refusal}',
    description: 'Leases that were refused because there is no such task.',
  },
  'lease.renewed': {
    name: 'transition_ownership.lease.renewals',
    unit: '{renewal}',
    description: 'Renewals of a lease.',
  },
  'lease.released': {
    name: 'transition_ownership.lease.releases',
    unit: '{lease}',
    description: 'Leases that were given back.',
    attributes: ({ provisional }) => ({ 'transition_ownership.lease.provisional': provisional }),
  },
  'lease.reclaimed': {
    name: 'transition_ownership.lease.reclaims',
    unit: '{lease}',
    description: 'Leases of dead owners that were deleted.',
    attributes: ({ reason }) => ({ 'transition_ownership.reason': knownReason(reason) }),
  },
  'lease.forced': {
    name: 'transition_ownership.lease.forced_reclaims',
    unit: '{lease}',
    description: 'Leases that were taken from an owner who may still run.',
  },
  'lease.lost': {
    name: 'transition_ownership.lease.losses',
    unit: '{lease}',
    description: 'Leases whose holder learned that they are no longer its own.',
    attributes: ({ reason }) => ({ 'transition_ownership.reason': reason }),
  },
  'lease.release-failed': {
    name: 'transition_ownership.lease.release.failures',
    unit: '{failure}',
    description: 'Releases that did not reach the database.',
  },
  'lease.renewal-failed': {
    name: 'transition_ownership.lease.renewal.failures',
    unit: '{failure}',
    description: 'Renewals that failed or came late.',
    attributes: ({ lateMs }) => ({ 'transition_ownership.reason': lateMs > 0 ? 'late' : 'failed' }),
  },
  'stage.changed': {
    name: 'transition_ownership.stage.changes',
    unit: '{change}',
    description: 'Stages that were written.',
    attributes: ({ from, to, fencingToken }) =>
      given({
        'transition_ownership.stage.from': from,
        'transition_ownership.stage.to': to,
        'transition_ownership.stage.fenced': fencingToken !== null,
      }),
  },
  'stage.race-lost': {
    name: 'transition_ownership.stage.conflicts',
    unit: '{conflict}',
    description: 'Stages that were not written, because they were not the expected ones.',
    attributes: ({ expected }) => given({ 'transition_ownership.stage.from': expected }),
  },
  'action.deferred': {
    name: 'transition_ownership.action.deferrals',
    unit: '{deferral}',
    description: 'Actors that were told to wait.',
    attributes: ({ reason }) => ({ 'transition_ownership.reason': reason }),
  },
  'job.claimed': {
    name: 'transition_ownership.job.claims',
    unit: '{job}',
    description: 'Queued jobs that were claimed.',
  },
  'job.requeued': {
    name: 'transition_ownership.job.requeues',
    unit: '{job}',
    description: 'Jobs that went back to the queue.',
    attributes: ({ by }) => ({ 'transition_ownership.by': by }),
  },
  'job.reaped': {
    name: 'transition_ownership.job.reaps',
    unit: '{job}',
    description: 'Running jobs that were taken from their run.',
    attributes: ({ reason }) => ({ 'transition_ownership.reason': reason }),
  },
  'job.reap-failed': {
    name: 'transition_ownership.job.reap.failures',
    unit: '{failure}',
    description: 'Jobs of dead runs that could not be dealt with.',
  },
  'queue.impossible-found': {
    name: 'transition_ownership.queue.impossible_found',
    unit: '{job}',
    description: 'Queued jobs that were found with the ownership of a run.',
  },
  'queue.sanitized': {
    name: 'transition_ownership.queue.sanitized',
    unit: '{job}',
    description: 'Such jobs that were repaired.',
  },
  'effect.started': {
    name: 'transition_ownership.effect.starts',
    unit: '{effect}',
    description: 'Effects that were journalled as started.',
    attributes: ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  },
  'effect.applied': {
    name: 'transition_ownership.effect.applications',
    unit: '{effect}',
    description: 'Effects that are known to be applied.',
    attributes: ({ effect, by }) => ({
      'transition_ownership.effect.name': effect,
      'transition_ownership.by': by,
    }),
  },
  'effect.unknown': {
    name: 'transition_ownership.effect.unknowns',
    unit: '{effect}',
    description: 'Effects of which nobody can tell whether they were applied.',
    attributes: ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  },
  'effect.unrecorded': {
    name: 'transition_ownership.effect.unrecorded',
    unit: '{effect}',
    description: 'Effects that were applied and that the journal could not be told of.',
    attributes: ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  },
  'recovery.finished': {
    name: 'transition_ownership.recovery.runs',
    unit: '{run}',
    description: 'Recoveries at start-up that ended.',
  },
  'survey.found': {
    name: 'transition_ownership.survey.findings',
    unit: '{finding}',
    description: 'Findings about the session and the tables, each once.',
    attributes: ({ code, level }) => ({
      'transition_ownership.finding.code': code,
      'transition_ownership.finding.level': level,
    }),
  },
  'store.failed': {
    name: 'transition_ownership.store.failures',
    unit: '{failure}',
    description: 'Statements that failed after their retries.',
    attributes: ({ kind, outcome }) => ({ 'error.type': kind, 'transition_ownership.store.outcome': outcome }),
  },
  'operator.acted': {
    name: 'transition_ownership.operator.actions',
    unit: '{action}',
    description: 'Acts by which an operator overruled the library.',
    attributes: ({ action }) => ({ 'transition_ownership.operator.action': action }),
  },
};
