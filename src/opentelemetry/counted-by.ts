import type { Attributes } from '@opentelemetry/api';
import type { EventType, OwnershipEvent } from '../index.js';
import { knownReason } from './known-reason.js';

/** An event of one type. */
type Told<T extends EventType> = Extract<OwnershipEvent, { readonly type: T }>;

/** The attributes that have a value. */
function given(attributes: Readonly<Record<string, string | boolean | null>>): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
}

/** What an event is counted under; attributes have few values each, so never an id or a text of another's. */
export const COUNTED_BY: { readonly [T in EventType]?: (event: Told<T>) => Attributes } = {
  'lease.acquired': ({ guarded, provisional }) => ({
    'transition_ownership.lease.guarded': guarded,
    'transition_ownership.lease.provisional': provisional,
  }),
  'lease.busy': ({ verdict, reason }) => ({
    'transition_ownership.verdict': verdict,
    'transition_ownership.reason': knownReason(reason),
  }),
  'would-refuse': ({ failure }) => ({ 'transition_ownership.reason': failure }),
  'would-lose': ({ failure }) => ({ 'transition_ownership.reason': failure }),
  'would-skip': ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  'would-hold': ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  'lease.released': ({ provisional }) => ({ 'transition_ownership.lease.provisional': provisional }),
  'lease.reclaimed': ({ reason }) => ({ 'transition_ownership.reason': knownReason(reason) }),
  'lease.lost': ({ reason }) => ({ 'transition_ownership.reason': reason }),
  'lease.renewal-failed': ({ lateMs }) => ({ 'transition_ownership.reason': lateMs > 0 ? 'late' : 'failed' }),
  'stage.changed': ({ from, to, fencingToken }) =>
    given({
      'transition_ownership.stage.from': from,
      'transition_ownership.stage.to': to,
      'transition_ownership.stage.fenced': fencingToken !== null,
    }),
  'stage.race-lost': ({ expected }) => given({ 'transition_ownership.stage.from': expected }),
  'action.deferred': ({ reason }) => ({ 'transition_ownership.reason': reason }),
  'job.requeued': ({ by }) => ({ 'transition_ownership.by': by }),
  'job.reaped': ({ reason }) => ({ 'transition_ownership.reason': reason }),
  'effect.started': ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  'effect.applied': ({ effect, by }) => ({
    'transition_ownership.effect.name': effect,
    'transition_ownership.by': by,
  }),
  'effect.unknown': ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  'effect.unrecorded': ({ effect }) => ({ 'transition_ownership.effect.name': effect }),
  'survey.found': ({ code, level }) => ({
    'transition_ownership.finding.code': code,
    'transition_ownership.finding.level': level,
  }),
  'store.failed': ({ kind, outcome }) => ({ 'error.type': kind, 'transition_ownership.store.outcome': outcome }),
  'operator.acted': ({ action }) => ({ 'transition_ownership.operator.action': action }),
};
