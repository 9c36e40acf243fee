/** Every verb. @module transition-ownership */
export type { Mode, SurveyMode } from './context.js';
export type { ColumnFacts, Holds, TableFacts } from './core/catalogue.js';
export { describeFailure, type FailureError, toError } from './core/describe.js';
export {
  decideEffect,
  decideTransition,
  type EffectDecision,
  type EffectEvidence,
  type EffectState,
} from './core/effect.js';
export type { Json } from './core/effect-result.js';
export {
  type EffectFacts,
  type EventFacts,
  type EventType,
  type GoneFacts,
  type JobFacts,
  type JsonId,
  type LeaseFacts,
  type OwnershipEvent,
  type Severity,
} from './core/event.js';
export { type CounterName, type Counters, EVENT_TYPES } from './core/event-types.js';
export type * from './core/failure.js';
export type { Finding, FindingCode, FindingSeverity } from './core/finding.js';
export type { Holder } from './core/holder.js';
export type { IdType, IdValue } from './core/id.js';
export type { JobProcess } from './core/job-process.js';
export type { AbortReason, Lease } from './core/lease.js';
export { NotApplied } from './core/not-applied.js';
export type { Listener } from './core/observer.js';
export type { ProcessIdentity, ProcessSighting } from './core/process.js';
export {
  assessRunningJob,
  type JobLease,
  type ReapLimits,
  type RunningAssessment,
  type RunningEvidence,
} from './core/reap.js';
export { defineStages, type StageMap, type Stages } from './core/stages.js';
export {
  heartbeatOnly,
  type Judge,
  type Judgement,
  judge,
  type Liveness,
  type Observation,
  processAndHeartbeat,
  singleProcess,
  type Verdict,
  type VerdictReason,
} from './core/verdict.js';
export type {
  Classified,
  Dialect,
  Fragment,
  FreeInsert,
  KeyPart,
  ListedRows,
  NamedTable,
  SchemaLock,
  SecondLook,
  StoredTime,
  SwappedTables,
  TimeFormat,
  TransactionLevel,
  UnlockedDelete,
  UnlockedUpdate,
} from './dialect/dialect.js';
export type { DialectName } from './dialect/infer.js';
export type { Catalogue, Cells, SettingsCheck, SettingsNeeds } from './dialect/looking.js';
export { mysqlDialect } from './dialect/mysql.js';
export { postgresDialect } from './dialect/postgres.js';
export { sqliteDialect } from './dialect/sqlite.js';
export type { ColumnShape, ColumnType, TableShape } from './dialect/table-shape.js';
export {
  type AssessedEffect,
  type Assessment,
  type AssessOptions,
  assessTransition,
  type EffectName,
  type Probes,
} from './effect/assess-transition.js';
export type { EffectFailure, EffectOutcome } from './effect/effect-outcome.js';
export type { ApplyInput, EffectRequest, Probe, ProbeAnswer, ProbeQuestion } from './effect/effect-request.js';
export { type EffectResolution, type ResolveEffectRequest, resolveEffect } from './effect/resolve-effect.js';
export { runEffect } from './effect/run-effect.js';
export {
  type ClaimedJob,
  type ClaimedJobWith,
  type ClaimRequest,
  claimNextJob,
  type JobOrder,
} from './job/claim-next-job.js';
export { type ClearedRunOwnership, clearedRunOwnership } from './job/cleared-run-ownership.js';
export { type FindImpossibleOptions, findImpossibleQueued } from './job/find-impossible-queued.js';
export {
  type FinishEnd,
  type FinishOutcome,
  type FinishRequest,
  finishJob,
} from './job/finish-job.js';
export type { FoundJob, FoundJobWith, ImpossibleQueued } from './job/found-job.js';
export { createJobReaper, type JobReaper } from './job/job-reaper.js';
export type { CheckedJobs, JobColumnsIn, JobShapeOf, JobStatuses, JobsIn, JobsOption } from './job/jobs-option.js';
export { parseJobId } from './job/parse-job-id.js';
export type { DeadJob, ReapDecision, ReaperOptions, RunningJob } from './job/reaper-options.js';
export {
  type RequeueOwners,
  type RequeueReport,
  type RequeueReportWith,
  type RequeueRequest,
  requeueRunningJobs,
} from './job/requeue-running-jobs.js';
export {
  type ResetGuard,
  type ResetReport,
  type ResetReportWith,
  type ResetRequest,
  resetRunOwnership,
} from './job/reset-run-ownership.js';
export {
  type SanitizeOptions,
  type SanitizeReport,
  type SanitizeReportWith,
  sanitizeImpossibleQueued,
} from './job/sanitize-impossible-queued.js';
export { type StampOutcome, type StampRequest, stampRunOwnership } from './job/stamp-run-ownership.js';
export type * from './job/tick-report.js';
export { type AcquireFailure, acquireLease } from './lease/acquire-lease.js';
export { type AcquiredLeases, type AcquiredLeasesWith, acquireLeases } from './lease/acquire-leases.js';
export { type AdvanceRequest, advanceFencingToken } from './lease/advance-fencing-token.js';
export { type ForceReleaseRequest, forceReleaseLease } from './lease/force-release-lease.js';
export type { ReleaseOutcome } from './lease/give-back.js';
export { type Defer, type Inspection, inspectLease, shouldDefer } from './lease/inspect-lease.js';
export type { LeaseOf } from './lease/lease-of.js';
export type { Actor, LeaseAsked, LeaseRequest } from './lease/lease-request.js';
export { ownedBy } from './lease/owned-by.js';
export { parseTaskId } from './lease/parse-task-id.js';
export {
  type Reclaimed,
  type ReclaimOptions,
  type ReclaimReport,
  reclaimStaleLeases,
} from './lease/reclaim-stale-leases.js';
export { type ReleaseOptions, releaseLease } from './lease/release-lease.js';
export { releaseLeases } from './lease/release-leases.js';
export {
  type JobCounts,
  type LeaseSnapshot,
  type Snapshot,
  snapshot,
  type UnguardedSnapshot,
} from './lease/snapshot.js';
export type * from './options.js';
export { createTransitionOwnership } from './ownership.js';
export type { ClaimEntry, ClaimRegistry } from './port/claim-registry.js';
export type { Clock, ScheduledCall, ScheduleOptions } from './port/clock.js';
export type { Files } from './port/files.js';
export type { Ports } from './port/ports.js';
export type { ProcessTable } from './port/process-table.js';
export type { Randomness } from './port/randomness.js';
export { type AbandonRequest, abandonTransition } from './recovery/abandon-transition.js';
export {
  type RecoveryReport,
  type RecoveryReportWith,
  type RecoveryRequest,
  recover,
} from './recovery/recover.js';
export { recoverOnStartup } from './recovery/recover-on-startup.js';
export type {
  UnfinishedTransition,
  UnfinishedTransitions,
  UnfinishedTransitionsWith,
  UnfinishedTransitionWith,
} from './recovery/unfinished-transitions.js';
export { type CheckOptions, checkDialect, type DialectReport } from './schema/check-dialect.js';
export { ensureSchema, type SchemaChange } from './schema/ensure-schema.js';
export type * from './shape.js';
export type { Condition } from './sql/owned-by.js';
export type { StageChange, StageFailure, StageMoved } from './stage/stage-change.js';
export type { StageMove, StageRequest } from './stage/stage-request.js';
export { updateStageCas } from './stage/update-stage-cas.js';
export type * from './tasks-option.js';
export { type Held, type HeldStageWrite } from './transition/held.js';
export {
  type HandledError,
  type HandledValue,
  type TransitionFailure,
  withTransitionLease,
} from './transition/with-transition-lease.js';
export type * from './transition-ownership.js';
