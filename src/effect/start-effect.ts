import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { EffectRecord } from '../core/effect.js';
import { effectFailed, notEnoughTime } from '../core/fail.js';
import type { EffectFailed, LeaseLost, NotEnoughTime, StoreFailure } from '../core/failure.js';
import type { Holding } from '../holding/holding.js';
import { readJudged } from '../lease-row/read-holder.js';
import { rowMissing } from '../lease-row/row-missing.js';
import type { EffectStatements, StartEffect } from '../sql/effect-statements.js';
import type { CheckedEffect } from './effect-request.js';
import { writeEffect } from './journal.js';

/** An effect to be started, under a lease of ours. */
export interface Starting {
  readonly context: Context;
  readonly effects: EffectStatements;
  readonly request: CheckedEffect;
  readonly holding: Holding;
  /** The identity of this start. */
  readonly claim: string;
}

/** Why nothing irreversible may be begun: the lease is lost, or its signal fired for another reason. */
export function refusalOf(holding: Holding): LeaseLost | EffectFailed | undefined {
  const lost = holding.check();
  if (lost !== undefined) return lost;
  const { signal } = holding;
  return signal.aborted ? effectFailed(signal.reason) : undefined;
}

/**
 * Writes down that the effect starts: one statement, fenced by the lease and by the time that it has left.
 * A start that was seen and did nothing is taken over, by compare-and-swap. Returns our row, or `null` if
 * another process's word came first.
 */
export async function writeStart(
  starting: Starting,
  seen: EffectRecord | null,
): Promise<Result<EffectRecord | null, LeaseLost | NotEnoughTime | StoreFailure>> {
  const { context, effects, request, holding, claim } = starting;
  const { taskId, effect, key, needsMs } = request;
  const { fencingToken, actor, claim: leaseClaim, taskId: leaseTaskId } = holding.facts;
  const start: StartEffect = { taskId, effect, key, claim, fencingToken, actor, leaseTaskId, leaseClaim, needsMs };
  const query = seen === null ? effects.start(start) : effects.takeOver({ ...start, seen: seen.claim });
  const written = await writeEffect(context, effects, { taskId, effect, key, claim, state: 'started' }, query);
  if (written.isErr()) return err(written.error);
  const { record, took } = written.value;
  return took ? ok(record) : explain(starting);
}

/** Nothing was written: reads whether the fence refused, and says so; else another's word came first. */
async function explain({
  context,
  request,
  holding,
}: Starting): Promise<Result<null, LeaseLost | NotEnoughTime | StoreFailure>> {
  const { needsMs } = request;
  const read = await readJudged(context, holding.facts.taskId);
  if (read.isErr()) return err(read.error);
  if (read.value?.holder.claim !== holding.facts.claim) {
    return err(rowMissing(context.root, holding, read.value?.holder ?? null));
  }
  const { holder, nowMs } = read.value;
  const remainingMs = Math.max(0, (holder.expiresAtMs ?? nowMs) - nowMs);
  return remainingMs < needsMs ? err(notEnoughTime(needsMs, remainingMs)) : ok(null);
}
