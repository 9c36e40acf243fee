import { ok, type Result, ResultAsync } from 'neverthrow';
import type { Context } from '../context.js';
import { jsonId } from '../core/event.js';
import { notGranting } from '../core/fail.js';
import { duration, optional, type RulesOf, requestOf } from '../core/request.js';
import type { CloseOptions, CloseReport } from '../transition-ownership.js';

const check = requestOf({ deadlineMs: optional(duration(0), 10_000) } satisfies RulesOf<CloseOptions>, 'options');

/** The end of each ownership, by its root context: all that were made of it by `using` end together. */
const ends = new WeakMap<Context, Promise<Result<CloseReport, never>>>();

/** Makes the function that closes an ownership, once. */
export function closer({ root }: Context): (options?: CloseOptions) => ResultAsync<CloseReport, never> {
  return (options = {}) => {
    const { deadlineMs } = check(options);
    const end = ends.get(root) ?? close(root, deadlineMs);
    ends.set(root, end);
    return new ResultAsync(end);
  };
}

async function close(context: Context, deadlineMs: number): Promise<Result<CloseReport, never>> {
  context.closing.begun = true;
  const { renewer, unguarded, running, claims } = context;
  const reason = notGranting('closed');
  for (const held of [...renewer.holdings, ...unguarded]) held.abort(reason);
  await ended(context, Promise.allSettled(running), deadlineMs);

  const unfinished = [...renewer.holdings].map((holding) => {
    const { taskId, fencingToken, actor, claim } = holding.facts;
    renewer.drop(holding);
    // Its owner may still write: the claim stays known, so that no one here takes the row for an orphan's.
    claims.enter(claim, holding.entry);
    return Object.freeze({ taskId: jsonId(taskId), fencingToken, actor });
  });
  return ok(Object.freeze({ unfinished: Object.freeze(unfinished) }));
}

/** Waits for what is under way, and no longer than the deadline; a handler itself goes on. */
function ended({ ports }: Context, work: Promise<unknown>, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = ports.clock.schedule(deadlineMs, resolve);
    void work.then(() => {
      timer.cancel();
      resolve();
    });
  });
}
