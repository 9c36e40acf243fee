import type { Context, Keeper } from '../context.js';
import { jsonId } from '../core/event.js';
import { reasonOf } from '../core/fail.js';
import type { Holder } from '../core/holder.js';
import { renewClaims } from '../evidence/renew-claims.js';
import { rowMissing } from '../evidence/row-missing.js';
import type { ScheduledCall } from '../port/clock.js';
import { anchorNow, type Holding } from '../runtime/holding.js';

/** Claims in one renewal statement: 5,000 leases take ten statements a tick. */
const CHUNK = 500;
/** How soon a row that somebody had locked is tried again, in ms. */
const LOCKED_AGAIN_MS = 20;

/**
 * Renews all leases of an ownership from one timer, which runs only while there are leases and never keeps
 * the process alive. At most one renewal is in flight. The only loop in this library.
 */
export class RenewalKeeper implements Keeper {
  readonly #held = new Set<Holding>();
  readonly #context: () => Context;
  #timer: ScheduledCall | undefined;
  /** Monotonic instants: when the timer calls, and when the next renewal is due. */
  #armedForMs = Number.POSITIVE_INFINITY;
  #renewalDueMs = Number.POSITIVE_INFINITY;
  #renewing = false;
  /** No lease loses its trust before both of these instants. */
  #trusted = { untilMonotonicMs: Number.POSITIVE_INFINITY, untilWallMs: Number.POSITIVE_INFINITY };

  /** The context is asked for when it is needed, for it holds this keeper. */
  constructor(context: () => Context) {
    this.#context = context;
  }

  get holdings(): ReadonlySet<Holding> {
    return this.#held;
  }

  keep(holding: Holding): void {
    const nowMs = this.#nowMs();
    const trustedMs = holding.trustedForMs();
    if (this.#held.size === 0 && !this.#renewing) this.#renewalDueMs = nowMs + this.#intervalMs();
    this.#held.add(holding);
    this.#trustFor(trustedMs);
    const dueMs = Math.min(this.#renewing ? Number.POSITIVE_INFINITY : this.#renewalDueMs, nowMs + trustedMs);
    if (dueMs < this.#armedForMs) this.#arm(dueMs);
  }

  drop(holding: Holding): void {
    const context = this.#context();
    context.ports.registry.delete(context.registryKey(holding.facts.claim));
    this.#leave(holding);
  }

  forsake(holding: Holding): void {
    // Never seen committed, it is void: no row of it is anybody's.
    if (holding.facts.entry.provisional) this.drop(holding);
    else this.#leave(holding);
  }

  #leave(holding: Holding): void {
    this.#held.delete(holding);
    if (this.#held.size === 0) this.#disarm();
  }

  glance(): void {
    if (this.#held.size === 0) return;
    const { clock } = this.#context().ports;
    const { untilMonotonicMs, untilWallMs } = this.#trusted;
    if (clock.monotonicMs() >= untilMonotonicMs || clock.wallMs() >= untilWallMs) this.#checkAll();
  }

  /** Checks every lease; answers for how long all that are not lost are trusted, in ms. */
  #checkAll(): number {
    let leastMs = Number.POSITIVE_INFINITY;
    for (const holding of this.#held) {
      if (holding.check() === undefined) leastMs = Math.min(leastMs, holding.trustedForMs());
    }
    this.#trusted = { untilMonotonicMs: Number.POSITIVE_INFINITY, untilWallMs: Number.POSITIVE_INFINITY };
    this.#trustFor(leastMs);
    return leastMs;
  }

  #trustFor(ms: number): void {
    const { clock } = this.#context().ports;
    const { untilMonotonicMs, untilWallMs } = this.#trusted;
    this.#trusted = {
      untilMonotonicMs: Math.min(untilMonotonicMs, clock.monotonicMs() + ms),
      untilWallMs: Math.min(untilWallMs, clock.wallMs() + ms),
    };
  }

  #nowMs(): number {
    return this.#context().ports.clock.monotonicMs();
  }

  /** The interval, shortened by up to a tenth so that processes do not renew in step. */
  #intervalMs(): number {
    const { ports, settings } = this.#context();
    return settings.timing.renewEveryMs * (1 - ports.randomness.fraction() / 10);
  }

  #arm(dueMs: number): void {
    this.#disarm();
    const delayMs = Math.max(1, Math.ceil(dueMs - this.#nowMs()));
    this.#armedForMs = dueMs;
    this.#timer = this.#context().ports.clock.schedule(delayMs, () => this.#tick());
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armedForMs = Number.POSITIVE_INFINITY;
  }

  #tick(): void {
    this.#disarm();
    if (!this.#renewing && this.#nowMs() >= this.#renewalDueMs) this.#beginRenewal();
    this.#rearm();
  }

  /** The timer goes on while a renewal is in flight: one that hangs must not keep a holder from learning of it. */
  #rearm(): void {
    const trustedMs = this.#checkAll();
    if (this.#held.size === 0) return;
    this.#arm(Math.min(this.#renewing ? Number.POSITIVE_INFINITY : this.#renewalDueMs, this.#nowMs() + trustedMs));
  }

  #beginRenewal(): void {
    this.#renewing = true;
    this.#renewalDueMs = this.#nowMs() + this.#intervalMs();
    const ended = (locked: boolean): void => {
      this.#renewing = false;
      if (locked) this.#renewalDueMs = this.#nowMs() + LOCKED_AGAIN_MS;
      this.#rearm();
    };
    this.#renewAll().then(ended, (cause: unknown) => {
      const message = reasonOf(cause);
      this.#context().observer.tell('lease.renewal-failed', { leases: this.#held.size, lateMs: 0, message });
      ended(false);
    });
  }

  /** Renews in chunks; true if some row was locked and is to be tried again at once. */
  async #renewAll(): Promise<boolean> {
    const context = this.#context();
    const due = [...this.#held].filter((holding) => holding.check() === undefined);
    let locked = false;
    for (let at = 0; at < due.length; at += CHUNK) {
      const chunk = due.slice(at, at + CHUNK).filter((holding) => this.#held.has(holding));
      tellIfLate(context, chunk);
      locked = (await this.#renew(context, chunk)) || locked;
    }
    return locked;
  }

  async #renew(context: Context, chunk: readonly Holding[]): Promise<boolean> {
    if (chunk.length === 0) return false;
    const anchor = anchorNow(context.ports.clock);
    const renewed = await renewClaims(context, chunk);
    if (renewed.isErr()) {
      const { message } = renewed.error;
      context.observer.tell('lease.renewal-failed', { leases: chunk.length, lateMs: 0, message });
      return false;
    }
    let locked = false;
    for (const { holding, state } of renewed.value) {
      if (!this.#held.has(holding)) continue;
      if (state.is === 'locked') locked = true;
      else if (state.is === 'renewed') this.#verified(context, holding, anchor, state.expiresAtMs);
      else this.#missing(context, holding, state.holder);
    }
    return locked;
  }

  #verified(context: Context, holding: Holding, anchor: ReturnType<typeof anchorNow>, expiresAtMs: number): void {
    const { taskId, fencingToken, actor, entry } = holding.facts;
    entry.provisional = false;
    holding.verify(anchor);
    context.observer.tell('lease.renewed', { taskId: jsonId(taskId), fencingToken, actor, expiresAtMs });
  }

  /** No row carries the claim: lost, unless a release is under way or a transaction of the caller's explains it. */
  #missing(context: Context, holding: Holding, holder: Holder | null): void {
    if (holding.maybeReleased) {
      holding.settle();
      this.drop(holding);
    } else if (holding.facts.entry.phase !== 'releasing') rowMissing(context, holding, holder);
  }
}

function tellIfLate({ observer, settings }: Context, chunk: readonly Holding[]): void {
  const lateMs = Math.round(
    Math.max(...chunk.map((holding) => holding.unverifiedForMs())) - 2 * settings.timing.renewEveryMs,
  );
  if (lateMs <= 0) return;
  const message = 'A renewal comes more than an interval late.';
  observer.tell('lease.renewal-failed', { leases: chunk.length, lateMs, message });
}
