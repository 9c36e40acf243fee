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

/** All of them. */
export const KNOWN_REASONS = Object.keys(REASONS);

/** A reason that is one of few. */
export const knownReason = (reason: string): string => (Object.hasOwn(REASONS, reason) ? reason : '_OTHER');
