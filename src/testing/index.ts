export { Failure } from './failure/failure.js';
export { explore } from './search/explore.js';
export { replay, type Schedule } from './search/replay.js';
export { assertHolds, type Bounds, type Report } from './search/report.js';
export { type CustomStore, customStore } from './store/custom-store.js';
export { type MemoryStoreOptions, memoryStore } from './store/memory-store.js';
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
export type { Failures, FaultKind, Faults, Restarts } from './world/faults.js';
export { type Finding, type Invariant, invariant } from './world/invariant.js';
export type { Process, ProcessClock, ProcessMain } from './world/process.js';
export type { Check, Scenario } from './world/scenario.js';
export type { Fact, Operation, Point, ProcessView, World } from './world/view.js';
