/**
 * Where a lease is in its local life: what this process knows of its own row.
 *
 * ```
 * acquiring ──→ held ──→ releasing ──→ released
 *                 ↑  ↘      │  ↘          ↑
 *                 └── uncommitted → unsettled
 *
 * any but released ──→ lost
 * ```
 */
export type LeaseState =
  /** Its INSERT was sent, or is about to be. */
  | 'acquiring'
  /** Its row was seen, and is renewed. */
  | 'held'
  /** Its DELETE is on its way: a row that is seen gone meanwhile says nothing yet. */
  | 'releasing'
  /**
   * Its row was deleted, and the commit of that was not seen: in the caller's transaction, or in a stage write whose
   * reply was lost. It is renewed and trusted like one that is held, for all may have been taken back.
   */
  | 'uncommitted'
  /** It was given up, and the reply to its DELETE was lost: its row may be gone, and is renewed no more. */
  | 'unsettled'
  /** Its row was deleted by this process. */
  | 'released'
  /** This process trusts it no more. */
  | 'lost';

/** What may become of a release. */
export type ReleaseEvent =
  /** A DELETE is about to be sent. */
  | 'release-sent'
  /** That DELETE has come to its end, and did not delete the row. */
  | 'release-ended'
  /** The row was deleted, and the commit of that was not seen. */
  | 'deleted-uncommitted'
  /** The reply to a DELETE of a lease that was given up was lost. */
  | 'reply-lost'
  /** The row was deleted by this process, or is gone after it may have been. */
  | 'deleted';

/** What may happen to a lease. */
export type LeaseEvent =
  | ReleaseEvent
  /** The row of the acquisition was seen. */
  | 'granted'
  /** A renewal over the root handle touched the row: what a transaction deleted is passed over by it. */
  | 'renewed'
  /** The row is not there: another process has deleted it, if not this one. */
  | 'gone'
  /** The row was not seen, and may be there: it was written in a transaction that has not committed. */
  | 'not-seen'
  /** The time ran out for which the last renewal is trusted, or the hold passed its bound. */
  | 'trust-ended'
  /** It was learned in another way that the lease is another's, or over. */
  | 'disproved';

/** The whole life as a table; an event that is not in the row of a state changes nothing. */
const NEXT: Readonly<Record<LeaseState, Readonly<Partial<Record<LeaseEvent, LeaseState>>>>> = {
  acquiring: { granted: 'held', disproved: 'lost' },
  held: {
    'release-sent': 'releasing',
    'deleted-uncommitted': 'uncommitted',
    'reply-lost': 'unsettled',
    deleted: 'released',
    gone: 'lost',
    'trust-ended': 'lost',
    disproved: 'lost',
  },
  releasing: {
    'release-ended': 'held',
    'deleted-uncommitted': 'uncommitted',
    'reply-lost': 'unsettled',
    deleted: 'released',
    'trust-ended': 'lost',
    disproved: 'lost',
  },
  uncommitted: {
    renewed: 'held',
    'reply-lost': 'unsettled',
    deleted: 'released',
    gone: 'released',
    'not-seen': 'released',
    'trust-ended': 'lost',
    disproved: 'lost',
  },
  unsettled: { deleted: 'released', gone: 'released', disproved: 'lost' },
  lost: { deleted: 'released' },
  released: {},
};

/** The state after an event. */
export function nextState(state: LeaseState, event: LeaseEvent): LeaseState {
  return NEXT[state][event] ?? state;
}

/** True while the lease may be lost by time alone: its owner counts on it. */
export function countsOn(state: LeaseState): boolean {
  return nextState(state, 'trust-ended') === 'lost';
}
