import type { LeaseLost, StoreFailureKind } from './failure.js';
import type { FindingCode, FindingSeverity } from './finding.js';
import type { IdValue } from './id.js';
import type { Verdict, VerdictReason } from './verdict.js';

/** How much an event matters: an `alert` wants a person. */
export type Severity = 'debug' | 'info' | 'warning' | 'alert';

/** An id as plain JSON: a bigint is given as its decimal digits. */
export type JsonId = number | string;

/** What every event about a lease carries. */
export interface LeaseFacts {
  readonly taskId: JsonId;
  readonly fencingToken: number | null;
  readonly actor: string;
}

/** The row of a lease that is gone. */
export interface GoneFacts extends LeaseFacts {
  readonly reason: VerdictReason;
  readonly stage: string | null;
  readonly runId: JsonId | null;
  readonly pid: number | null;
  readonly host: string | null;
  /** Since its acquisition, by the database's clock, in ms; `null` if the row does not say. */
  readonly ageMs: number | null;
}

/** What every event about a job carries. */
export interface JobFacts {
  readonly jobId: JsonId;
  readonly taskId: JsonId | null;
  readonly runId: JsonId | null;
  readonly pid: number | null;
}

/** What every event about an effect carries. */
export interface EffectFacts {
  readonly taskId: JsonId;
  readonly effect: string;
  readonly key: string;
  readonly fencingToken: number | null;
}

/** What each type of event carries besides `type` and `severity`. */
export interface EventFacts {
  /** A lease was granted; a provisional one hangs on a transaction that is still open. */
  'lease.acquired': LeaseFacts & {
    readonly guarded: boolean;
    readonly provisional: boolean;
    readonly stage: string | null;
    readonly runId: JsonId | null;
  };
  /** A lease was refused because another process holds the task. */
  'lease.busy': LeaseFacts & { readonly verdict: Verdict; readonly reason: string };
  /** Under mode `observe`: a lease that mode `on` would have refused. */
  'would-refuse': LeaseFacts & {
    readonly stage: string | null;
    /** The type of the failure that it would have been. */
    readonly failure: string;
    readonly verdict: Verdict | null;
    readonly reason: string | null;
    /** The holder that stood in the way; its facts as far as they were read. */
    readonly holder: { readonly actor: string; readonly fencingToken: number } | null;
  };
  /** Under mode `observe`: a stage write that mode `on` would have refused. */
  'would-lose': {
    readonly taskId: JsonId;
    readonly expected: string | null;
    readonly actual: string | null;
    /** `lost-race`, `lease-busy` or `lease-lost`. */
    readonly failure: string;
  };
  /** Under mode `observe`: an effect that the journal has as applied, and that is applied again. */
  'would-skip': EffectFacts;
  /** Under mode `observe`: an effect whose outcome is not known, and that is applied all the same. */
  'would-hold': EffectFacts;
  /** A lease was refused because there is no such task. */
  'task.not-found': { readonly taskId: JsonId; readonly actor: string };
  /** A lease was renewed. */
  'lease.renewed': LeaseFacts & { readonly expiresAtMs: number };
  /** A lease was given back, `heldMs` after it was taken, by the clock of this process. */
  'lease.released': LeaseFacts & { readonly provisional: boolean; readonly heldMs: number };
  /** A dead owner's lease was deleted: exactly the acquisition that was judged, with the whole row that is gone. */
  'lease.reclaimed': GoneFacts & { readonly verdict: Verdict };
  /** A lease was taken from an owner who may still run: it passed its hard bound. */
  'lease.forced': GoneFacts;
  /** A holder learned that its lease is no longer its own, `heldMs` after it took it. */
  'lease.lost': LeaseFacts & { readonly reason: LeaseLost['reason']; readonly heldMs: number };
  /** A release did not reach the database; the row expires by itself. */
  'lease.release-failed': LeaseFacts & { readonly message: string };
  /** A renewal failed or came late; the leases are still held, and are tried again. */
  'lease.renewal-failed': { readonly leases: number; readonly lateMs: number; readonly message: string };
  /** A stage was written. */
  'stage.changed': {
    readonly taskId: JsonId;
    readonly from: string | null;
    readonly to: string | null;
    readonly fencingToken: number | null;
    /** Who wrote it, if it was written under a lease. */
    readonly actor: string | null;
  };
  /** A stage was not written, or a lease not granted: the task was not in the expected stage. */
  'stage.race-lost': {
    readonly taskId: JsonId;
    readonly expected: string | null;
    readonly actual: string | null;
  };
  /** An actor that would have advanced a task has to defer. */
  'action.deferred': {
    readonly taskId: JsonId;
    readonly reason: string;
    /** Who deferred, where the request says so. */
    readonly actor: string | null;
    /** The owner that it deferred to, as far as it was read. */
    readonly holder: { readonly actor: string; readonly fencingToken: number } | null;
  };
  /** A queued job was claimed; in the caller's transaction, before its commit. */
  'job.claimed': JobFacts;
  /** A job went back to the queue, its run ownership cleared; in the caller's transaction, before its commit. */
  'job.requeued': JobFacts & { readonly by: 'reset' | 'recovery' | 'reaper' | 'claim' };
  /** A running job was taken from its run. */
  'job.reaped': JobFacts & { readonly reason: string; readonly forced: boolean };
  /** What to do with a dead run's job could not be decided or done: a hook or a statement failed. */
  'job.reap-failed': JobFacts & { readonly message: string };
  /** A queued job was found that carries a run's ownership. */
  'queue.impossible-found': JobFacts & { readonly startedAt: JsonId | null };
  /** Such a job was repaired. */
  'queue.sanitized': JobFacts & { readonly startedAt: JsonId | null };
  /** An effect was journalled as started. */
  'effect.started': EffectFacts;
  /** An effect is known to be applied; `unrecorded` says why its result could not be kept, if it could not. */
  'effect.applied': EffectFacts & {
    readonly by: 'apply' | 'probe' | 'operator';
    readonly unrecorded: string | null;
  };
  /** Whether an effect was applied is not known. */
  'effect.unknown': EffectFacts & { readonly message: string };
  /** An effect was applied, and the journal could not be written: this process knows it, and no one else. */
  'effect.unrecorded': EffectFacts & { readonly message: string };
  /** A start-up recovery ended. */
  'recovery.finished': {
    readonly requeued: number;
    readonly sanitized: number;
    readonly reclaimed: number;
    readonly held: number;
    readonly failed: number;
    /** How long it took, by the clock of this process. */
    readonly tookMs: number;
  };
  /** Something was found of the session or of a table: each once for an ownership. */
  'survey.found': {
    readonly code: FindingCode;
    readonly level: FindingSeverity;
    /** The table that it is about; `null` where it is about the session, the server or the driver. */
    readonly table: string | null;
    readonly message: string;
  };
  /** A statement failed, after its retries. */
  'store.failed': {
    readonly kind: StoreFailureKind;
    readonly retryable: boolean;
    readonly outcome: 'not-applied' | 'unknown';
    readonly message: string;
  };
  /** An operator overruled the library. */
  'operator.acted': {
    readonly action: 'force-release' | 'resolve-effect' | 'abandon-transition';
    readonly taskId: JsonId;
    readonly fencingToken: number | null;
    readonly by: string;
    readonly reason: string;
    /** The effect that was resolved, and what the operator saw of it. */
    readonly effect?: string;
    readonly key?: string;
    readonly outcome?: 'applied' | 'not-applied';
  };
}

/** The type of an event: `noun.past`, and `would-…` for what mode `on` would have done. */
export type EventType = keyof EventFacts;

/** What the library emits to its observer: frozen, plain JSON, distinguished by `type`. */
export type OwnershipEvent = {
  [T in EventType]: { readonly type: T; readonly severity: Severity } & EventFacts[T];
}[EventType];

/** An id as plain JSON. */
export function jsonId(id: IdValue): JsonId {
  return typeof id === 'bigint' ? id.toString() : id;
}

/** An instant as a driver gives it, as plain JSON. */
export function jsonInstant(instant: unknown): JsonId | null {
  if (instant instanceof Date) return Number.isNaN(instant.getTime()) ? null : instant.toISOString();
  if (typeof instant === 'number' || typeof instant === 'string') return instant;
  return typeof instant === 'bigint' ? instant.toString() : null;
}
