import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf, type Mode } from '../context.js';
import { type JsonId, jsonId } from '../core/event.js';
import { type Counters } from '../core/event-types.js';
import type { StoreFailure } from '../core/failure.js';
import { isOwnProcess, type Verdict, type VerdictReason } from '../core/verdict.js';
import type { Judged } from '../lease-row/judge-holder.js';
import { pagesOfJudged } from '../lease-row/read-holder.js';
import type { Shape } from '../shape.js';
import { execute } from '../sql/execute.js';
import { neverReject } from '../sql/never-reject.js';
import { readInteger } from '../sql/rows.js';
import { journalThere } from '../survey/journal-there.js';
import type { TransitionOwnership } from '../transition-ownership.js';

/** One lease, for people and dashboards. */
export interface LeaseSnapshot {
  readonly taskId: JsonId;
  readonly fencingToken: number;
  readonly actor: string;
  readonly stage: string | null;
  readonly runId: JsonId | null;
  /** Means something only on `host`; never a reason to signal a process by itself. */
  readonly pid: number | null;
  readonly host: string | null;
  readonly bootId: string | null;
  /** Since its acquisition, by the database's clock, in ms. */
  readonly ageMs: number | null;
  /** Until it expires unless it is renewed, in ms; negative when it has expired. */
  readonly expiresInMs: number | null;
  readonly verdict: Verdict;
  readonly reason: VerdictReason;
  /** True if this process is the owner. */
  readonly sameProcess: boolean;
}

/** How many jobs there are, among the first 50,000 of each status. */
export interface JobCounts {
  readonly queued: number;
  readonly running: number;
  /** Since the start of the oldest run, by the database's clock, in ms; `null` if none has one that can be read. */
  readonly oldestRunningMs: number | null;
}

/** A lease of this process without a row. */
export interface UnguardedSnapshot {
  readonly taskId: JsonId;
  readonly actor: string;
  readonly stage: string | null;
  /** When it was granted, by the local clock, ISO 8601 in UTC. */
  readonly since: string;
  /** Mode `off`, a scope that leaves the request out, a store that failed, or mode `observe`, which would have refused it. */
  readonly reason: 'off' | 'out-of-scope' | 'store-failed' | 'observed';
}

/** The state of the ownership as plain JSON: for `GET /queue` and `GET /metrics`. */
export interface Snapshot {
  readonly mode: Mode;
  /** The name of what the leases were judged by. */
  readonly liveness: string;
  /** Local wall time of the snapshot, ISO 8601 in UTC. */
  readonly at: string;
  /** The leases, oldest first, up to 10,000; none under mode `off`. */
  readonly leases: readonly LeaseSnapshot[];
  /** True if there are more leases than are listed. */
  readonly truncated: boolean;
  /** Rows of leases that cannot be read, among those that were looked at: each is reported by `store.failed`. */
  readonly unreadable: number;
  /** Your jobs; `null` without the option `jobs`. */
  readonly jobCounts: JobCounts | null;
  /** Queued jobs that carry a run's ownership, among the first 50,000; `null` without the option `jobs`. */
  readonly impossibleQueued: number | null;
  /** Effects that were started and whose end is not known; `null` without the option `effects`. */
  readonly unfinishedEffects: number | null;
  /**
   * Leases of this process that have no row, and that no other process sees: of mode `off`, of a request out of scope, of a
   * store that failed, or of one that mode `observe` would have refused.
   */
  readonly unguarded: readonly UnguardedSnapshot[];
  /** What happened since this ownership was made. */
  readonly counters: Counters;
}

/** The most leases that a snapshot lists. */
const MAX = 10_000;
/** The most jobs of each status that a snapshot looks at. */
const MAX_JOBS = 50_000;

/**
 * Reads who holds what, since when and on what evidence, with the counters of this process.
 *
 * Costs in proportion to the leases that are held, and not to the tasks.
 */
export function snapshot<S extends Shape>(ownership: TransitionOwnership<S>): ResultAsync<Snapshot, StoreFailure> {
  const context = contextOf(ownership);
  return neverReject(context.session, take(context));
}

async function take(context: Context): Promise<Result<Snapshot, StoreFailure>> {
  const mode = context.mode();
  const read = mode === 'off' ? ok(NONE) : await readLeases(context);
  if (read.isErr()) return err(read.error);
  const { judged, truncated, unreadable } = read.value;
  const counted = await countJobs(context);
  if (counted.isErr()) return err(counted.error);
  const unfinished = await countUnfinished(context);
  if (unfinished.isErr()) return err(unfinished.error);
  return ok(
    Object.freeze({
      mode,
      liveness: context.settings.liveness.name,
      at: new Date(context.ports.clock.wallMs()).toISOString(),
      leases: Object.freeze(judged.map((each) => toSnapshot(context, each))),
      truncated,
      unreadable,
      jobCounts: counted.value.jobs,
      impossibleQueued: counted.value.impossible,
      unfinishedEffects: unfinished.value,
      unguarded: Object.freeze(
        context.holds.all.map(({ taskId, actor, stage = null, sinceMs, reason }) =>
          Object.freeze({ taskId: jsonId(taskId), actor, stage, since: new Date(sinceMs).toISOString(), reason }),
        ),
      ),
      counters: context.observer.counters(),
    }),
  );
}

interface Leases extends Pick<Snapshot, 'truncated' | 'unreadable'> {
  readonly judged: readonly Judged[];
}

const NONE: Leases = Object.freeze({ judged: Object.freeze([]), truncated: false, unreadable: 0 });

async function readLeases(context: Context): Promise<Result<Leases, StoreFailure>> {
  const judged: Judged[] = [];
  let unreadable = 0;
  for await (const page of pagesOfJudged(context)) {
    if (page.isErr()) return err(page.error);
    judged.push(...page.value.judged);
    unreadable += page.value.unreadable.length;
    if (judged.length + unreadable > MAX) return ok({ judged: judged.slice(0, MAX), truncated: true, unreadable });
  }
  return ok({ judged, truncated: false, unreadable });
}

interface Counted {
  readonly jobs: JobCounts | null;
  readonly impossible: number | null;
}

async function countJobs({ jobs, session }: Context): Promise<Result<Counted, StoreFailure>> {
  if (jobs === undefined) return ok({ jobs: null, impossible: null });
  const counted = await execute(session, jobs.countJobs({ limit: MAX_JOBS }));
  return counted.map(({ rows: [row] }) => ({
    jobs: Object.freeze({
      queued: readInteger(row?.['queued']) ?? 0,
      running: readInteger(row?.['running']) ?? 0,
      oldestRunningMs: readInteger(row?.['oldest_ms']),
    }),
    impossible: readInteger(row?.['impossible']) ?? 0,
  }));
}

async function countUnfinished(context: Context): Promise<Result<number | null, StoreFailure>> {
  if (context.effects === undefined) return ok(null);
  const journal = await journalThere(context);
  if (journal.isErr()) return err(journal.error);
  if (journal.value === undefined) return ok(0);
  const counted = await execute(context.session, journal.value.countUnfinished({}));
  return counted.map(({ rows: [row] }) => readInteger(row?.['unfinished']));
}

function toSnapshot({ ports }: Context, { holder, judgement, nowMs }: Judged): LeaseSnapshot {
  const { taskId, fencingToken, actor, stage, runId, pid, host, bootId, acquiredAtMs, expiresAtMs } = holder;
  return Object.freeze({
    taskId: jsonId(taskId),
    fencingToken,
    actor,
    stage,
    runId: runId === null ? null : jsonId(runId),
    pid,
    host,
    bootId,
    ageMs: acquiredAtMs === null ? null : nowMs - acquiredAtMs,
    expiresInMs: expiresAtMs === null ? null : expiresAtMs - nowMs,
    ...judgement,
    sameProcess: isOwnProcess(holder, ports.identity),
  });
}
