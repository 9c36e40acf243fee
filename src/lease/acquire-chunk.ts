import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { ofUnknownOutcome, taskNotFound } from '../core/fail.js';
import type { LeaseBusy, StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';
import type { Lease } from '../core/lease.js';
import { anchorNow } from '../holding/anchor.js';
import { findTasks } from '../lease-row/find-task.js';
import { lookingBriefly } from '../lease-row/looking.js';
import type { LateQuery } from '../sql/execute.js';
import { readTaken } from '../sql/granted-rows.js';
import { neverReject } from '../sql/never-reject.js';
import { isNoId } from '../survey/no-such-id.js';
import { suited } from '../survey/suited.js';
import {
  grantFresh,
  type Keyed,
  looksFirst,
  maxTries,
  mayHaveInserted,
  type Refused,
  refuse,
  settle,
  undo,
  unfit,
} from './acquisition.js';
import { enterClaim, insertParameters, leaveClaim } from './grant.js';
import { giveBackLate, insertWithin } from './insert-within.js';
import type { CheckedRequest } from './lease-request.js';

/** What became of one request of many. */
export type Outcome = Result<Lease, LeaseBusy | Refused>;

type Outcomes = Map<IdValue, Outcome>;

/** Takes the leases of a few requests by one INSERT, and settles those that it did not take, as `acquireLease` does. */
export async function acquireChunk(
  context: Context,
  requests: readonly CheckedRequest[],
  outcomes: Outcomes,
): Promise<StoreFailure | undefined> {
  const all = requests.map((request): Keyed => ({ pending: enterClaim(context, request), key: request.taskId }));
  const insertAll = () => insertAndSettle(context, all, outcomes);
  const settled = await neverReject(context.session, suited(context, ['lease'], insertAll));
  for (const { pending } of all) {
    if (!outcomes.get(pending.request.taskId)?.isOk()) leaveClaim(context, pending.claim);
  }
  return settled.isErr() ? settled.error : undefined;
}

async function insertAndSettle(
  context: Context,
  all: readonly Keyed[],
  outcomes: Outcomes,
): Promise<Result<void, StoreFailure>> {
  for (const {
    pending: { request },
  } of all) {
    if (isNoId(context, request.taskId))
      outcomes.set(request.taskId, err(refuse(context, request, taskNotFound(request.taskId))));
  }
  const isOpen = ({ pending }: Keyed): boolean => !outcomes.has(pending.request.taskId);
  for (let tries = 1; tries <= maxTries(context) && all.some(isOpen); tries += 1) {
    const refused = looksFirst(context) ? await lookAtHeld(context, all.filter(isOpen), outcomes) : undefined;
    if (refused !== undefined) return err(refused);
    if (!all.some(isOpen)) break;
    const { broken, mayHaveLeft, givenUp } = await insert(context, all.filter(isOpen), outcomes);
    if (givenUp && broken !== undefined) return err(broken);
    // A broken insert may have left its rows all the same: the claims tell.
    const mayLook = broken === undefined || (mayHaveLeft && !context.session.inTransaction);
    const unread = mayLook ? await settleOthers(context, all.filter(isOpen), outcomes, mayHaveLeft) : undefined;
    const trouble = broken ?? unread;
    if (trouble !== undefined && all.some(isOpen)) return err(mayHaveLeft ? ofUnknownOutcome(trouble) : trouble);
  }
  return ok(undefined);
}

async function insert(
  context: Context,
  open: readonly Keyed[],
  outcomes: Outcomes,
): Promise<{ readonly broken?: StoreFailure; readonly mayHaveLeft: boolean; readonly givenUp?: boolean }> {
  const { session, ports, settings, acquisitions } = context;
  const { signal } = session.patience ?? {};
  const rows = open.map(({ pending, key }) => ({ ...insertParameters(context, pending), taskId: key }));
  const query: LateQuery = () => acquisitions.takeMany(rows, ports.identity);
  const giveBack = () => Promise.all(open.map((keyed) => giveBackLate(context, keyed)));
  const { answer: inserted, anchor, givenUp } = await insertWithin(context, { query, giveBack, signal });
  if (inserted.isErr()) return { broken: inserted.error, mayHaveLeft: inserted.error.outcome === 'unknown', givenUp };
  const taken = readTaken(session, settings.taskIdType, inserted.value);
  if (taken.isErr()) return { broken: taken.error, mayHaveLeft: true };
  const byClaim = new Map(open.map((keyed) => [keyed.pending.claim, keyed]));
  let mayHaveLeft = mayHaveInserted(inserted.value);
  for (const row of taken.value) {
    const keyed = byClaim.get(row.claim);
    if (keyed === undefined) continue;
    keyed.key = row.taskId;
    const { request } = keyed.pending;
    const refused = row.seen === null ? undefined : unfit(request, row.seen);
    if (row.seen === null || (refused === undefined && row.seen.taskId !== row.taskId)) mayHaveLeft = true;
    else if (refused === undefined) {
      const granted = await grantFresh(context, keyed, { ...row, ...row.seen }, anchor);
      if (granted.isErr()) return { broken: granted.error, mayHaveLeft: true };
      if (granted.value !== undefined) outcomes.set(request.taskId, granted.value);
    } else {
      const undone = await undo(context, keyed);
      if (undone.isErr()) return { broken: undone.error, mayHaveLeft: true };
      outcomes.set(request.taskId, err(refuse(context, request, refused)));
    }
  }
  return { mayHaveLeft };
}

/** Settles those whose task somebody holds before the INSERT that would leave a lock on the rows of their holders. */
async function lookAtHeld(
  context: Context,
  open: readonly Keyed[],
  outcomes: Outcomes,
): Promise<StoreFailure | undefined> {
  const ids = open.map(({ pending }) => pending.request.taskId);
  const found = await findTasks(lookingBriefly(context), ids, 'look');
  if (found.isErr()) return undefined;
  const held = open.filter(({ pending }) => (found.value.get(pending.request.taskId)?.judged ?? null) !== null);
  return held.length === 0 ? undefined : settleOthers(context, held, outcomes, false);
}

/** Looks at the tasks of those that were not granted, and at their holders. */
async function settleOthers(
  context: Context,
  open: readonly Keyed[],
  outcomes: Outcomes,
  mayHaveWritten: boolean,
): Promise<StoreFailure | undefined> {
  if (open.length === 0) return undefined;
  const askedAt = anchorNow(context.ports.clock);
  const ids = open.map(({ pending }) => pending.request.taskId);
  const found = await findTasks(context, ids, mayHaveWritten ? 'write' : 'look');
  if (found.isErr()) return found.error;
  for (const keyed of open) {
    const { taskId } = keyed.pending.request;
    const settled = await settle(context, keyed, found.value.get(taskId) ?? null, { askedAt, mayHaveWritten });
    if (settled.isErr()) return settled.error;
    if (settled.value !== undefined) outcomes.set(taskId, settled.value);
  }
  return undefined;
}
