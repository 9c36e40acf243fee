import type { IdValue } from '../core/id.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Lease } from '../core/lease.js';
import type { Holding } from './holding.js';
import type { LeaseSignal } from './lease-signal.js';
import type { UnguardedHold } from './unguarded-holds.js';

const SECRET = Symbol.for('transition-ownership.lease');

interface Common {
  /** The context of the ownership that granted it. */
  readonly home: object;
  /** Gives it back; what goes wrong is reported by events alone. */
  readonly dispose: () => Promise<unknown>;
}

/** What a lease carries besides what callers see. */
export type LeaseSecret =
  | (Common & { readonly guarded: true; readonly holding: Holding })
  | (Common & {
      readonly guarded: false;
      readonly reason: UnguardedHold['reason'];
      readonly claim: string;
      /** What the request for it gave to `scope`. */
      readonly context: unknown;
      readonly signal: LeaseSignal;
      released: boolean;
    });

/** What a lease without a row carries. */
export type UnguardedSecret = Extract<LeaseSecret, { readonly guarded: false }>;

/** Ends a lease without a row; returns whether it had ended before. */
export function releaseUnguarded(secret: UnguardedSecret): boolean {
  const before = secret.released;
  secret.released = true;
  secret.signal.unfollow();
  return before;
}

/** The plain facts of a lease. */
export type LeaseFacts = Omit<Lease, 'signal' | keyof AsyncDisposable>;

/** A lease in the caller's hands; whoever makes one freezes it. */
export class LeaseHandle implements Lease {
  readonly taskId: IdValue;
  readonly actor: string;
  readonly stage: string | null | undefined;
  readonly runId: IdValue | null;
  readonly claim: string;
  readonly fencingToken: number | null;
  readonly guarded: boolean;
  readonly acquiredAtMs: number;
  readonly expiresAtMs: number;
  readonly deadlineAtMs: number;
  declare readonly [SECRET]: LeaseSecret;

  constructor(facts: LeaseFacts, secret: LeaseSecret) {
    this.taskId = facts.taskId;
    this.actor = facts.actor;
    this.stage = facts.stage;
    this.runId = facts.runId;
    this.claim = facts.claim;
    this.fencingToken = facts.fencingToken;
    this.guarded = facts.guarded;
    this.acquiredAtMs = facts.acquiredAtMs;
    this.expiresAtMs = facts.expiresAtMs;
    this.deadlineAtMs = facts.deadlineAtMs;
    Object.defineProperty(this, SECRET, { value: secret });
  }

  get signal(): AbortSignal {
    const secret = this[SECRET];
    return secret.guarded ? secret.holding.signal : secret.signal.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this[SECRET].dispose();
  }
}

/** What a lease carries; throws `TypeError` for anything but a lease of the given home. */
export function secretOf(lease: Pick<Lease, 'taskId'>, home: object): LeaseSecret {
  const secret = (lease as { readonly [SECRET]?: LeaseSecret } | null | undefined)?.[SECRET];
  if (secret === undefined)
    throw new TypeError(`lease must be a lease that this library granted, got ${inspectValue(lease)}`);
  if (secret.home !== home) throw new TypeError('lease must be a lease of this ownership, not of another one');
  return secret;
}
