import {
  acquireLease,
  type Dialect,
  type DialectName,
  heartbeatOnly,
  releaseLease,
  type TransitionOwnership,
  updateStageCas,
} from '../../index.js';
import type { Process } from '../world/process.js';
import type { ShapeOfTasks, SuiteTables } from './suite-tables.js';
import { suiteTasks } from './suite-tables.js';

/** The time to live of the leases in a dialect suite, in milliseconds. */
export const suiteTtlMs = 3_000;

/** What a contender wants. */
export interface Wanted {
  readonly taskId: number;
  readonly dialect: Dialect | DialectName | undefined;
}

/** The ownership of one simulated process: by heartbeat alone, so that time decides and no pid. */
export function contendersOwnership(
  process: Process<SuiteTables>,
  { dialect }: Wanted,
): TransitionOwnership<ShapeOfTasks> {
  return process.createOwnership({
    tasks: suiteTasks,
    liveness: heartbeatOnly(),
    lease: { ttlMs: suiteTtlMs, renewEveryMs: suiteTtlMs / 3 },
    ...(dialect === undefined ? {} : { dialect }),
  });
}

/**
 * Takes the lease, does its work, moves the stage from `a` to `b` under it, and gives it back: each as an operation of
 * the history. Returns how far it came.
 */
export async function contend(process: Process<SuiteTables>, wanted: Wanted): Promise<string> {
  const { taskId } = wanted;
  const ownership = contendersOwnership(process, wanted);
  await process.work();
  let isHeldUp = false;
  const acquiring = process.op({ verb: 'acquire', taskId, owner: process.name }, async () => {
    const lease = await acquireLease(ownership, { taskId, actor: 'contender' });
    if (lease.isErr() && lease.error.type === 'store-failure') {
      isHeldUp = lease.error.kind === 'busy';
      throw new UnknownOutcome(lease.error);
    }
    return lease.isOk() ? { fencingToken: lease.value.fencingToken ?? 0, lease: lease.value } : null;
  });
  const acquired = await acquiring.catch((error: unknown) => {
    // An uncommitted row of another kept it waiting for too long: it gives up, and does not die of it.
    if (isHeldUp) return 'held up' as const;
    throw error;
  });
  if (acquired === 'held up') return acquired;
  if (acquired === null) return 'busy';
  const { lease, fencingToken } = acquired;
  process.ghost({ grant: fencingToken, taskId, expiresAtMs: lease.expiresAtMs });
  await process.work();
  const written = await process.op({ verb: 'write', taskId, fencingToken, expected: 'a', next: 'b' }, async () => {
    const change = await updateStageCas(ownership, { taskId, expected: 'a', next: 'b', lease });
    if (change.isErr() && change.error.type === 'store-failure') throw new UnknownOutcome(change.error);
    return change.isOk();
  });
  await process.work();
  await process.op({ verb: 'release', taskId, fencingToken }, async () => {
    const released = await releaseLease(ownership, lease);
    if (released.isErr()) throw new UnknownOutcome(released.error);
    process.ghost({ release: fencingToken, taskId });
    return released.value === 'released';
  });
  return written ? 'moved' : 'lost';
}

/** The store failed, so no one knows whether it was done: the process dies of it, as an orchestrator might. */
export class UnknownOutcome extends Error {
  constructor(failure: { readonly message: string; readonly cause?: unknown }) {
    super(failure.message, { cause: failure.cause });
    this.name = 'UnknownOutcome';
  }
}
