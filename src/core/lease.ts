import type { LeaseLost, NotGranting } from './failure.js';
import type { IdValue } from './id.js';

/**
 * One acquisition of a task's transition, as a frozen value.
 *
 * The life of a lease:
 *
 * ```text
 *            acquire            renewals move expires_ms           release
 *   free ──────────────► held ───────────────────────────► held ───────────► free
 *                         │                                  │
 *                         │ maxHoldMs passed                 │ row gone or another's
 *                         │ no renewal verified in time      │
 *                         ▼                                  ▼
 *               signal fires; renewals stop        signal fires; every fence refuses
 *                         │
 *                         └─ others take over at expiry, deadline, or on evidence of death
 * ```
 *
 * The trust window: the holder trusts itself from the *start* of its last verified renewal for `ttlMs`
 * less a margin (a tenth of the TTL, at least 100 ms), by whichever of the monotonic and the wall clock ran
 * further. Others may take over only when a full TTL has passed on the clock of the database, so a holder
 * stops first. Trust is anchored before the question is asked: a slow reply shortens it, never stretches it.
 */
export interface Lease<TaskId extends IdValue = IdValue, Stage = string | null, RunId extends IdValue = IdValue>
  extends AsyncDisposable {
  /** The task whose transition is owned: its id as its row spells it. */
  readonly taskId: TaskId;
  /** Who took it. */
  readonly actor: string;
  /** The stage that the task was in when it was taken; of an unguarded lease, what the request named. */
  readonly stage: Stage | undefined;
  /** The run that the request named. */
  readonly runId: RunId | null;
  /** The identity of this acquisition. */
  readonly claim: string;
  /** Grows with every acquisition, for ever; give it to outside systems. `null` only for an unguarded lease. */
  readonly fencingToken: number | null;
  /** False where the kill switch, the scope or the caller's own choice granted it without a row. */
  readonly guarded: boolean;
  /** Database time of the acquisition, epoch ms; local time for an unguarded lease. */
  readonly acquiredAtMs: number;
  /** Database time at which it would end if it were never renewed, as granted, epoch ms. */
  readonly expiresAtMs: number;
  /** Database time at which the hold ends whatever happens, as granted, epoch ms. */
  readonly deadlineAtMs: number;
  /**
   * Fires when the lease is lost, with a {@link LeaseLost} as its reason; when the ownership is closed, with
   * a {@link NotGranting}; or when the request's own signal fires, with its reason. Reading it checks first
   * whether this process may still trust itself.
   */
  readonly signal: AbortSignal;
}

/** Why the signal of a lease fires by itself. */
export type AbortReason = LeaseLost | NotGranting;
