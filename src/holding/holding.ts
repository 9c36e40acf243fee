import { leaseLost } from '../core/fail.js';
import type { LeaseLost } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { IdValue } from '../core/id.js';
import { marginMs } from '../core/timing.js';
import type { ClaimEntry } from '../port/claim-registry.js';
import type { Clock } from '../port/clock.js';
import { LeaseSignal } from './lease-signal.js';

/** One instant on both local clocks; elapsed time is the greater of the two, for a suspended machine stops one. */
export interface Anchor {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The anchor of now: taken before a question is sent, never after its answer came. */
export function anchorNow(clock: Clock): Anchor {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/** Milliseconds since an anchor, on the clock that ran further. */
export function elapsedMs(clock: Clock, since: Anchor): number {
  return Math.max(clock.monotonicMs() - since.monotonicMs, clock.wallMs() - since.wallMs);
}

/** How long a statement about leases may wait for its connection. */
export interface Trusted {
  trustedForMs(): number;
}

/** For as long as one of the leases is trusted; `undefined` where none is any more. */
export function trustedOf(holdings: readonly Holding[]): Trusted | undefined {
  const trusted = holdings.filter((holding) => holding.check() === undefined && holding.trustedForMs() > 0);
  if (trusted.length < 2) return trusted[0];
  return { trustedForMs: () => Math.max(...trusted.map((holding) => holding.trustedForMs())) };
}

/** What a process knows of a guarded lease of its own. */
export interface HoldingFacts {
  /** The id of the task as its row spells it, and as the request for the lease did. */
  readonly taskId: IdValue;
  readonly askedId: IdValue;
  readonly actor: string;
  readonly claim: string;
  readonly fencingToken: number;
  readonly ttlMs: number;
  readonly maxHoldMs: number;
  readonly expiresAtMs: number;
  readonly entry: ClaimEntry;
}

/**
 * The changing side of a lease: how long it is still trusted, whether it was lost, and its signal.
 *
 * A lease is the frozen value that the caller holds; its holding is what renewals and checks move.
 */
export class Holding implements Trusted {
  readonly facts: HoldingFacts;
  readonly #clock: Clock;
  readonly #onLost: (lost: LeaseLost) => void;
  readonly #acquired: Anchor;
  #verified: Anchor;
  readonly #signal = new LeaseSignal();
  #lost: LeaseLost | undefined;
  /** True once the row was deleted by this process. */
  released = false;
  /** True once the row was deleted in a transaction of the caller's whose end has not been seen. */
  maybeReleased = false;
  /**
   * True once a release was sent whose reply was lost: the row may be gone, and is renewed no more. Its absence is no
   * loss then, and nothing is trusted any more that could be.
   */
  unsettled = false;
  /** True while a release over the root handle is on its way. */
  releasing = false;
  /** The expiry of the row as this process last moved it, by the clock of the database. */
  expiresAtMs: number;
  #maxHoldMs: number;

  constructor(facts: HoldingFacts, clock: Clock, acquired: Anchor, onLost: (lost: LeaseLost) => void) {
    this.facts = facts;
    this.expiresAtMs = facts.expiresAtMs;
    this.#maxHoldMs = facts.maxHoldMs;
    this.#clock = clock;
    this.#acquired = acquired;
    this.#verified = acquired;
    this.#onLost = onLost;
  }

  /** The loss, if there is one: checks first whether this process may still trust itself. */
  check(): LeaseLost | undefined {
    if (this.#lost === undefined && !this.released && !this.unsettled) {
      if (elapsedMs(this.#clock, this.#acquired) >= this.#maxHoldMs) this.lose('over-budget');
      else if (this.trustedForMs() <= 0) this.lose('unverifiable');
    }
    return this.#lost;
  }

  /** Milliseconds for which the last verified renewal is still trusted, or the hold is within its bound. */
  trustedForMs(): number {
    const { ttlMs } = this.facts;
    return Math.min(
      ttlMs - marginMs(ttlMs) - elapsedMs(this.#clock, this.#verified),
      this.#maxHoldMs - elapsedMs(this.#clock, this.#acquired),
    );
  }

  /** Milliseconds until the hold passes its bound, and at least one. */
  get holdLeftMs(): number {
    return Math.max(1, Math.ceil(this.#maxHoldMs - elapsedMs(this.#clock, this.#acquired)));
  }

  /** Milliseconds since the start of the last verified renewal. */
  unverifiedForMs(): number {
    return elapsedMs(this.#clock, this.#verified);
  }

  /** Milliseconds since the lease was taken. */
  get heldMs(): number {
    return Math.round(elapsedMs(this.#clock, this.#acquired));
  }

  /**
   * The row was updated over the root handle, which passes over what a transaction has deleted: a release in one
   * was taken back.
   */
  moved(expiresAtMs: number): void {
    this.expiresAtMs = expiresAtMs;
    this.maybeReleased = false;
    this.facts.entry.phase = this.releasing ? 'releasing' : 'held';
  }

  /** How long the hold may last, in ms from its beginning. */
  get maxHoldMs(): number {
    return this.#maxHoldMs;
  }

  /** The bound of the row was moved, and its expiry with it. */
  extended(maxHoldMs: number, expiresAtMs: number): void {
    this.#maxHoldMs = maxHoldMs;
    this.moved(expiresAtMs);
  }

  /** The row was seen with a fresh expiry; `anchor` is from before the statement was sent. */
  verify(anchor: Anchor): void {
    this.#verified = anchor;
  }

  /** Records a loss, once, and fires the signal with it. */
  lose(reason: LeaseLost['reason'], holder?: Holder): LeaseLost {
    if (this.#lost === undefined) {
      const { taskId, fencingToken } = this.facts;
      this.#lost = leaseLost({ taskId, fencingToken, reason, ...(holder && { holder }) });
      this.#signal.unfollow();
      this.#onLost(this.#lost);
      this.abort(this.#lost);
    }
    return this.#lost;
  }

  /** Fires the signal without a loss: the ownership closes. */
  abort(reason: unknown): void {
    this.#signal.abort(reason);
  }

  /** Fires the signal when the caller's own does. */
  follow(signal: AbortSignal | undefined): void {
    this.#signal.follow(signal);
  }

  /** The row was deleted by this process, or is left to expire: nothing is checked or followed any more. */
  settle(): void {
    this.released = true;
    this.#signal.unfollow();
  }

  /** The signal, made when it is first asked for. */
  get signal(): AbortSignal {
    this.check();
    return this.#signal.signal;
  }
}
