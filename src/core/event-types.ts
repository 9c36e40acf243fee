import type { EventType, Severity } from './event.js';

/** The severity of each type, and the counter of the snapshot that counts it. */
export const EVENT_TYPES = Object.freeze({
  'lease.acquired': { severity: 'debug', counter: 'acquired' },
  'lease.busy': { severity: 'info', counter: 'busy' },
  'would-refuse': { severity: 'warning', counter: 'wouldRefuse' },
  'would-lose': { severity: 'warning', counter: 'wouldLose' },
  'would-skip': { severity: 'warning', counter: 'wouldSkip' },
  'would-hold': { severity: 'warning', counter: 'wouldHold' },
  'task.not-found': { severity: 'info', counter: 'tasksNotFound' },
  'lease.renewed': { severity: 'debug', counter: 'renewed' },
  'lease.released': { severity: 'debug', counter: 'released' },
  'lease.reclaimed': { severity: 'alert', counter: 'reclaimed' },
  'lease.forced': { severity: 'alert', counter: 'forced' },
  'lease.lost': { severity: 'warning', counter: 'lost' },
  'lease.release-failed': { severity: 'warning', counter: 'releasesFailed' },
  'lease.renewal-failed': { severity: 'warning', counter: 'renewalsFailed' },
  'stage.changed': { severity: 'info', counter: 'stagesChanged' },
  'stage.race-lost': { severity: 'info', counter: 'racesLost' },
  'action.deferred': { severity: 'info', counter: 'deferred' },
  'job.claimed': { severity: 'debug', counter: 'claimed' },
  'job.requeued': { severity: 'info', counter: 'requeued' },
  'job.reaped': { severity: 'warning', counter: 'reaped' },
  'job.reap-failed': { severity: 'warning', counter: 'reapsFailed' },
  'queue.impossible-found': { severity: 'warning', counter: 'impossibleFound' },
  'queue.sanitized': { severity: 'info', counter: 'sanitized' },
  'effect.started': { severity: 'debug', counter: 'effectsStarted' },
  'effect.applied': { severity: 'info', counter: 'effectsApplied' },
  'effect.unknown': { severity: 'alert', counter: 'effectsUnknown' },
  'effect.unrecorded': { severity: 'alert', counter: 'effectsUnrecorded' },
  'recovery.finished': { severity: 'info', counter: 'recoveries' },
  'survey.found': { severity: 'warning', counter: 'found' },
  'store.failed': { severity: 'warning', counter: 'storeFailed' },
  'operator.acted': { severity: 'warning', counter: 'operatorActed' },
} as const satisfies Record<EventType, { severity: Severity; counter: string }>);

/** The name of a counter in the snapshot. */
export type CounterName = (typeof EVENT_TYPES)[EventType]['counter'];

/** How often each type of event happened since the ownership was made. */
export type Counters = Readonly<Record<CounterName, number>>;
