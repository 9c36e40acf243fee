import type { VerdictReason } from '../index.js';

/** The reasons that the library knows; the caller's judge may give any other. */
const REASONS: Readonly<Record<VerdictReason, true>> = {
  'over-budget': true,
  expired: true,
  'clock-set-back': true,
  'claim-registered': true,
  orphaned: true,
  'process-gone': true,
  'pid-reused': true,
  'process-alive': true,
  'another-boot': true,
  unexpired: true,
  unreadable: true,
};

/** Those of owners that are dead: only they are reclaimed. */
export const DEAD_REASONS: readonly VerdictReason[] = [
  'over-budget',
  'expired',
  'orphaned',
  'process-gone',
  'pid-reused',
  'another-boot',
];

/** A reason that is one of few. */
export const knownReason = (reason: string): string => (Object.hasOwn(REASONS, reason) ? reason : '_OTHER');
