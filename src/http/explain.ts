import { ok, type Result } from 'neverthrow';
import {
  assessTransition,
  type Inspection,
  inspectLease,
  type Shape,
  type StoreFailure,
  type TransitionOwnership,
} from '../index.js';
import { withoutClaim } from './replies.js';

/** One task, explained: who holds it on what evidence, and what the journal has of its effects. */
export async function explain(
  ownership: TransitionOwnership,
  taskId: Shape['taskId'],
  hasJournal: boolean,
): Promise<Result<object, StoreFailure>> {
  const inspected = await inspectLease(ownership, taskId);
  if (!hasJournal) return inspected.map((seen) => ({ taskId, lease: leaseOf(seen) }));
  const assessed = await assessTransition(ownership, taskId);
  return inspected.andThen((seen) => assessed.andThen(({ effects }) => ok({ taskId, lease: leaseOf(seen), effects })));
}

function leaseOf(seen: Inspection): object {
  if (seen.state === 'free') return { state: seen.state };
  const { state, verdict, reason, holder } = seen;
  return { state, verdict, reason, ...withoutClaim(holder) };
}
