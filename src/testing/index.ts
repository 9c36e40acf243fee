/**
 * The testing kit: your own handlers, every interleaving, every crash point.
 *
 * @module transition-ownership/testing
 */
export { type LeaseInput, type LeaseOutput, type LeaseState, leaseModel } from './check/lease-model.js';
export { checkLinearizable, type Linearizability, type SequentialModel } from './check/linearizable.js';
export { checkSpec, type Spec, type SpecReport } from './check/spec.js';
export { checkTokenOrder, type TokenOrder } from './check/token-order.js';
export { type FixedIdentity, fixedIdentity } from './double/fixed-identity.js';
export { type ManualClock, manualClock } from './double/manual-clock.js';
export { type EventRecord, recordEvents } from './double/record-events.js';
export { Failure } from './failure/failure.js';
export {
  type KillEverywhereOptions,
  type KillMoment,
  type KillReport,
  killEverywhere,
} from './process/kill-everywhere.js';
export { killable } from './process/killable.js';
export { type PowerLossReport, powerLoss } from './process/power-loss.js';
export { effectAtMostOnce } from './rule/effects.js';
export { type JobTable, noQueuedRunOwnership } from './rule/jobs.js';
export { eventuallyFree, type LeaseTable, noLeaseOutlivesItsBound, tokensOnlyGrow } from './rule/leases.js';
export { exactlyOneStageWriter, type StageTables } from './rule/stage-writer.js';
export { explore } from './search/explore.js';
export { type DeepeningBounds, exploreDeepening } from './search/explore-deepening.js';
export { type ArbitraryMakers, type FuzzOptions, fuzz, scheduleArbitrary } from './search/fuzz.js';
export { type RegressionBounds, type Regressions, regressions } from './search/regressions.js';
export { type Replayed, replay, type Schedule } from './search/replay.js';
export { assertHolds, type Bounds, type Report } from './search/report.js';
export type { Strategy } from './search/walks.js';
export { type CustomStore, customStore } from './store/custom-store.js';
export { type MemoryStoreOptions, memoryStore } from './store/memory-store.js';
export type { MysqlClient } from './store/mysql-server.js';
export { type MysqlStoreOptions, mysqlStore } from './store/mysql-store.js';
export type { PostgresClient } from './store/postgres-server.js';
export { type PostgresStoreOptions, postgresStore } from './store/postgres-store.js';
export { type SqliteFileStoreOptions, sqliteFileStore } from './store/sqlite-file-store.js';
export type {
  AnyTables,
  Awaitable,
  Migrate,
  Row,
  Snapshot,
  StoreErrors,
  TestConnection,
  TestStore,
} from './store/store.js';
export { type CrashReport, crashEverywhere, type Difference } from './suite/crash-everywhere.js';
export type { RuleId } from './suite/dialect-rules.js';
export { type DialectSuiteOptions, dialectSuite } from './suite/dialect-suite.js';
export { type HandlerSuiteOptions, handlerSuite } from './suite/handler-suite.js';
export type { SqlMutant } from './suite/mutate-sql.js';
export type { Level, Runner } from './suite/runner.js';
export { type MutationBounds, type MutationReport, sqlMutants } from './suite/sql-mutants.js';
export type { MachineOfLife, StageHandler, StageMachine } from './suite/stage-machine.js';
export type { CreateOwnership, SimulatedOwnershipOptions } from './world/create-ownership.js';
export type { Failures, FaultKind, Faults, Restarts } from './world/faults.js';
export { type Check, type Finding, type Invariant, invariant, reached } from './world/invariant.js';
export { perStart } from './world/per-start.js';
export type { Ported, Process, ProcessClock, ProcessMain } from './world/process.js';
export type { Scenario } from './world/scenario.js';
export type { Fact, Operation, Point, ProcessView, World } from './world/view.js';
