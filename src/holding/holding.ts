import { leaseLost } from '../core/fail.js';
import type { LeaseLost } from '../core/failure.js';
import type { Holder } from '../core/holder.js';
import type { IdValue } from '../core/id.js';
import { marginMs } from '../core/timing.js';
import type { ClaimEntry } from '../port/claim-registry.js';
import type { Clock } from '../port/clock.js';
import { type Anchor, elapsedMs } from './anchor.js';
import type { LeaseLife } from './lease-life.js';
import { LeaseSignal } from './lease-signal.js';
import { countsOn, type LeaseEvent, type LeaseState, type ReleaseEvent } from './lease-state.js';

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
  readonly #life: LeaseLife;
  #lost: LeaseLost | undefined;
  /** The expiry of the row as this process last moved it, by the clock of the database. */
  expiresAtMs: number;
  #maxHoldMs: number;

  constructor(
    facts: HoldingFacts,
    life: LeaseLife,
    { clock, acquired, onLost }: { clock: Clock; acquired: Anchor; onLost: (lost: LeaseLost) => void },
  ) {
    this.facts = facts;
    this.#life = life;
    life.step('granted');
    this.expiresAtMs = facts.expiresAtMs;
    this.#maxHoldMs = facts.maxHoldMs;
    this.#clock = clock;
    this.#acquired = acquired;
    this.#verified = acquired;
    this.#onLost = onLost;
  }

  /** Where the lease is in its life. */
  get state(): LeaseState {
    return this.#life.state;
  }

  /** The entry of its claim in the registry. */
  get entry(): ClaimEntry {
    return this.#life.entry;
  }

  /** True until the transaction that wrote the row is seen committed. */
  get provisional(): boolean {
    return this.#life.provisional;
  }

  /** The loss, if there is one: checks first whether this process may still trust itself. */
  check(): LeaseLost | undefined {
    if (countsOn(this.state)) {
      if (elapsedMs(this.#clock, this.#acquired) >= this.#maxHoldMs) this.#end('trust-ended', 'over-budget');
      else if (this.trustedForMs() <= 0) this.#end('trust-ended', 'unverifiable');
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

  /** The row was updated over the root handle. */
  moved(expiresAtMs: number): void {
    this.expiresAtMs = expiresAtMs;
    this.#life.step('renewed');
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

  /** The row was seen over the root handle: whatever wrote it has committed. */
  committed(): void {
    this.#life.committed();
  }

  /** Something became of its release; once released, nothing is checked or followed any more. */
  note(event: ReleaseEvent): void {
    if (this.#life.step(event) === 'released') this.#signal.unfollow();
  }

  /** The row was looked for over the root handle and is not there; returns the loss, if that is one. */
  gone(holder: Holder | null): LeaseLost | undefined {
    const event = this.provisional && holder === null ? 'not-seen' : 'gone';
    return this.#end(event, holder === null ? 'gone' : 'superseded', holder);
  }

  /** It was learned that the lease is another's, or over: records the loss, once, and fires the signal with it. */
  lose(reason: LeaseLost['reason']): LeaseLost {
    return this.#end('disproved', reason) ?? this.#loss(reason, null);
  }

  /** Steps, and records the loss if that is one. */
  #end(event: LeaseEvent, reason: LeaseLost['reason'], holder: Holder | null = null): LeaseLost | undefined {
    const before = this.state;
    const after = this.#life.step(event);
    if (after === before) return this.#lost;
    this.#signal.unfollow();
    if (after === 'lost') {
      this.#lost = this.#loss(reason, holder);
      this.#onLost(this.#lost);
      this.abort(this.#lost);
    }
    return this.#lost;
  }

  #loss(reason: LeaseLost['reason'], holder: Holder | null): LeaseLost {
    const { taskId, fencingToken } = this.facts;
    return leaseLost({ taskId, fencingToken, reason, ...(holder && { holder }) });
  }

  /** Fires the signal without a loss: the ownership closes. */
  abort(reason: unknown): void {
    this.#signal.abort(reason);
  }

  /** Fires the signal when the caller's own does. */
  follow(signal: AbortSignal | undefined): void {
    this.#signal.follow(signal);
  }

  /** The signal, made when it is first asked for. */
  get signal(): AbortSignal {
    this.check();
    return this.#signal.signal;
  }
}
