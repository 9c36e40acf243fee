import type { Context, Renewer } from '../context.js';
import { reasonOf } from '../core/fail.js';
import type { Holding } from '../holding/holding.js';
import type { ScheduledCall } from '../port/clock.js';
import { renewAll } from './renew-all.js';

/** How soon a row that another session had locked is tried again, in ms; twice as long each time, up to a tenth of the interval. */
const LOCKED_AGAIN_MS = 20;

const NONE_LOCKED = Object.freeze({ holdings: [], times: 0, dueMs: Number.POSITIVE_INFINITY });

/**
 * Renews all leases of an ownership from one timer, which runs only while there are leases and never keeps
 * the process alive. At most one renewal is in flight. The only loop in this library.
 */
export class LeaseRenewer implements Renewer {
  readonly #held = new Set<Holding>();
  readonly #context: () => Context;
  #timer: ScheduledCall | undefined;
  /** Monotonic instants: when the timer calls, and when the next renewal is due. */
  #armedForMs = Number.POSITIVE_INFINITY;
  #renewalDueMs = Number.POSITIVE_INFINITY;
  #renewing = false;
  /** Those whose row was locked at the last renewal, how often in a row that was so, and when they alone are due. */
  #locked: { readonly holdings: readonly Holding[]; readonly times: number; readonly dueMs: number } = NONE_LOCKED;
  /** No lease loses its trust before both of these instants. */
  #trusted = { untilMonotonicMs: Number.POSITIVE_INFINITY, untilWallMs: Number.POSITIVE_INFINITY };

  /** The context is asked for when it is needed, for it holds this renewer. */
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
    const dueMs = Math.min(this.#dueMs(), nowMs + trustedMs);
    if (dueMs < this.#armedForMs) this.#arm(dueMs);
  }

  drop(holding: Holding): void {
    this.#context().claims.leave(holding.facts.claim);
    this.#leave(holding);
  }

  forsake(holding: Holding): void {
    // Never seen committed, it is void: no row of it is anybody's.
    if (holding.provisional) this.drop(holding);
    else this.#leave(holding);
  }

  #leave(holding: Holding): void {
    this.#held.delete(holding);
    this.#context().idle.look();
    if (this.#held.size === 0) this.#disarm();
  }

  glance(): void {
    if (this.#held.size === 0) return;
    const { clock } = this.#context().ports;
    const { untilMonotonicMs, untilWallMs } = this.#trusted;
    if (clock.monotonicMs() >= untilMonotonicMs || clock.wallMs() >= untilWallMs) this.#checkAll();
  }

  /** Checks every lease; returns for how long all that are not lost are trusted, in ms. */
  #checkAll(): number {
    let minMs = Number.POSITIVE_INFINITY;
    for (const holding of this.#held) {
      if (holding.check() === undefined) minMs = Math.min(minMs, holding.trustedForMs());
    }
    this.#trusted = { untilMonotonicMs: Number.POSITIVE_INFINITY, untilWallMs: Number.POSITIVE_INFINITY };
    this.#trustFor(minMs);
    return minMs;
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
    this.#timer = this.#context().ports.clock.schedule(delayMs, () => this.#tick(), { background: true });
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armedForMs = Number.POSITIVE_INFINITY;
  }

  /** When the next renewal is to begin: never while one is in flight. */
  #dueMs(): number {
    return this.#renewing ? Number.POSITIVE_INFINITY : Math.min(this.#renewalDueMs, this.#locked.dueMs);
  }

  #tick(): void {
    this.#disarm();
    if (this.#nowMs() >= this.#dueMs()) this.#beginRenewal();
    this.#rearm();
  }

  /** The timer goes on while a renewal is in flight: one that hangs must not keep a holder from learning of it. */
  #rearm(): void {
    const trustedMs = this.#checkAll();
    if (this.#held.size === 0) return;
    this.#arm(Math.min(this.#dueMs(), this.#nowMs() + trustedMs));
  }

  #beginRenewal(): void {
    const nowMs = this.#nowMs();
    const isForAll = nowMs >= this.#renewalDueMs;
    if (isForAll) this.#renewalDueMs = nowMs + this.#intervalMs();
    this.#renewing = true;
    const ended = (locked: readonly Holding[]): void => {
      this.#renewing = false;
      this.#locked = locked.length === 0 ? NONE_LOCKED : this.#lockedAgain(locked);
      this.#rearm();
    };
    renewAll(this.#context(), isForAll ? [...this.#held] : this.#locked.holdings).then(ended, (cause: unknown) => {
      const message = reasonOf(cause);
      this.#context().observer.emit('lease.renewal-failed', { leases: this.#held.size, lateMs: 0, message });
      ended([]);
    });
  }

  #lockedAgain(holdings: readonly Holding[]) {
    const times = this.#locked.times + 1;
    const longestMs = Math.max(LOCKED_AGAIN_MS, this.#intervalMs() / 10);
    const delayMs = Math.min(LOCKED_AGAIN_MS * 2 ** (times - 1), longestMs);
    return { holdings, times, dueMs: this.#nowMs() + delayMs };
  }
}
