import type { IdValue } from './id.js';

/**
 * What a reader sees of another's lease: one row of the lease table.
 *
 * Every deciding time is an integer from the clock of the database. `null` in a time means that the row
 * holds something unreadable there, which no writer of this library ever wrote.
 */
export interface Holder<TaskId extends IdValue = IdValue, RunId extends IdValue = IdValue> {
  /** The task whose transition is owned. */
  readonly taskId: TaskId;
  /** The number of the acquisition; grows for ever, orders acquisitions for people and outside systems. */
  readonly fencingToken: number;
  /** The identity of the acquisition; every fence compares it. */
  readonly claim: string;
  /** Who took it: `monitor`, `reaper`, `webhook`, … */
  readonly actor: string;
  /** The pid of the owner; means something only within `host`. */
  readonly pid: number | null;
  /** The boot id of the owner's process. */
  readonly bootId: string | null;
  /** The host scope of the owner's pid. */
  readonly host: string | null;
  /** The start mark of the owner's pid. */
  readonly start: string | null;
  /** The run in whose context the lease was taken. */
  readonly runId: RunId | null;
  /** The stage of the task when the lease was taken. */
  readonly stage: string | null;
  /** Database time of the acquisition, epoch ms. */
  readonly acquiredAtMs: number | null;
  /** Database time at which the lease ends unless it is renewed, epoch ms. */
  readonly expiresAtMs: number | null;
  /** The owner's own TTL: readers judge by the row and not by their configuration. */
  readonly ttlMs: number | null;
  /** Database time at which the hold ends whatever its owner does, epoch ms; `null` for an unbounded one. */
  readonly deadlineAtMs: number | null;
}
