import type { Finding } from './finding.js';
import type { Holder } from './holder.js';
import type { IdValue } from './id.js';
import type { Verdict, VerdictReason } from './verdict.js';

/** Another process owns the task's transition; the handler was not called and nothing was written. */
export interface LeaseBusy {
  readonly type: 'lease-busy';
  readonly message: string;
  readonly taskId: IdValue;
  /** The owner as it was read; `null` if it was gone again each time it was looked at, or cannot be read. */
  readonly holder: Holder | null;
  readonly verdict: Verdict;
  /**
   * `contended` when the row changed hands at every try; `locked` when its owner is dead by all evidence, and yet an open
   * transaction, its own most likely, has the row locked, which nobody waits for; `unguarded-here` when this process
   * itself holds the task without a row.
   */
  readonly reason: VerdictReason | 'contended' | 'locked' | 'unguarded-here';
}

/** No new lease is granted at present; holders go on. */
export interface NotGranting {
  readonly type: 'not-granting';
  readonly message: string;
  /** The kill switch drains, the ownership is closed, or the caller's own signal had fired. */
  readonly reason: 'draining' | 'closed' | 'aborted';
}

/** The lease is no longer ours: stop, and start nothing irreversible. */
export interface LeaseLost<V = unknown> {
  readonly type: 'lease-lost';
  readonly message: string;
  readonly taskId: IdValue;
  readonly fencingToken: number | null;
  /** Another owner's row; no row; the hard bound; or no renewal could be verified in time. */
  readonly reason: 'superseded' | 'gone' | 'over-budget' | 'unverifiable';
  /** The present owner, where it was read. */
  readonly holder?: Holder;
  /** What the handler returned although the lease was lost meanwhile. */
  readonly value?: V;
}

/** The lease is ours, but ends before the step that was asked about could. */
export interface NotEnoughTime {
  readonly type: 'not-enough-time';
  readonly message: string;
  /** What is left after renewing, in ms of the database's clock. */
  readonly remainingMs: number;
}

/** The stage was not the expected one; nothing was written. */
export interface LostRace<Stage = unknown> {
  readonly type: 'lost-race';
  readonly message: string;
  readonly taskId: IdValue;
  readonly expected: Stage;
  /** The stage read afterwards; it may have moved again since. */
  readonly actual: Stage;
}

/** No task has this id. */
export interface TaskNotFound {
  readonly type: 'task-not-found';
  readonly message: string;
  readonly taskId: IdValue;
}

/** The move is not one of those that `defineStages` allows; no statement was sent. */
export interface IllegalTransition {
  readonly type: 'illegal-transition';
  readonly message: string;
  readonly taskId: IdValue;
  readonly from: string | null;
  readonly to: string | null;
}

/** The handler threw; its lease was released. */
export interface HandlerFailed {
  readonly type: 'handler-failed';
  readonly message: string;
  readonly cause: unknown;
}

/** Whether an irreversible step happened is not known; it is held and never repeated on a guess. */
export interface EffectUnknown {
  readonly type: 'effect-unknown';
  readonly message: string;
  readonly taskId: IdValue;
  readonly effect: string;
  /** Which application of the effect it is. */
  readonly key: string;
  /** Database time at which it was started, epoch ms; of the lease's acquisition, if the journal has no start of it. */
  readonly since: number;
  /** What `apply` or the probe threw, if one did. */
  readonly cause?: unknown;
}

/**
 * The step was applied, and the journal could not be written.
 *
 * This process knows that it happened and never does it again: the next `runEffect` here writes it down. No one else
 * knows: elsewhere it is held as of unknown outcome, until `resolveEffect` says that it was applied.
 */
export interface EffectUnrecorded<V = unknown> {
  readonly type: 'effect-unrecorded';
  readonly message: string;
  readonly taskId: IdValue;
  readonly effect: string;
  /** Which application of the effect it is. */
  readonly key: string;
  /** What `apply` returned, as JSON gives it back. `null` if it returned nothing, or no plain JSON. */
  readonly value: V | null;
  /** Why the journal could not be written. */
  readonly cause: StoreFailure;
}

/**
 * The step certainly did nothing, and may be tried again: it threw `NotApplied`, or was never called, since the signal
 * of its lease had fired or since it would have waited for itself, inside its own `apply`.
 */
export interface EffectFailed {
  readonly type: 'effect-failed';
  readonly message: string;
  readonly cause: unknown;
}

/** The operator named another acquisition than the present one; nothing was released. */
export interface TokenMismatch {
  readonly type: 'token-mismatch';
  readonly message: string;
  /** The present owner. */
  readonly holder: Holder;
}

/** No one holds the task's transition. */
export interface AlreadyFree {
  readonly type: 'already-free';
  readonly message: string;
}

/** What came from outside is no id of the declared type; nothing was looked up. */
export interface InvalidId {
  readonly type: 'invalid-id';
  readonly message: string;
}

/** The kinds of trouble a store can have; `unsuitable` is refused by what was found of the session or of a table. */
export type StoreFailureKind =
  | 'busy'
  | 'serialization'
  | 'deadlock'
  | 'connection'
  | 'constraint'
  | 'schema'
  | 'unsuitable'
  | 'other';

/** The database did not reply as it should. */
export interface StoreFailure {
  readonly type: 'store-failure';
  readonly message: string;
  readonly kind: StoreFailureKind;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** `unknown` when the reply was lost: the statement may have been applied. */
  readonly outcome: 'not-applied' | 'unknown';
  /** What the driver threw. */
  readonly cause: unknown;
  /** What makes the session or a table unsuitable, errors alone; only of the kind `unsuitable`. */
  readonly findings?: readonly Finding[];
  /**
   * True if the transaction of yours in which it came was rolled back by it, or can only be rolled back: begin it again,
   * for nothing of it is committed. Only of a verb on `using(trx)`.
   */
  readonly transactionEnded?: true;
}

/**
 * Every failure there is, distinguished by `type`: frozen plain objects.
 *
 * Given to `JSON.stringify`, a failure spells a bigint as its decimal digits and an error that it carries as its name,
 * message and code.
 */
export type Failure =
  | LeaseBusy
  | NotGranting
  | LeaseLost
  | NotEnoughTime
  | LostRace
  | TaskNotFound
  | IllegalTransition
  | HandlerFailed
  | EffectUnknown
  | EffectFailed
  | EffectUnrecorded
  | TokenMismatch
  | AlreadyFree
  | InvalidId
  | StoreFailure;
