import { ok, type Result } from 'neverthrow';
import {
  type AssessedEffect,
  type EffectDecision,
  recoverOnStartup,
  type Snapshot,
  type StoreFailure,
  snapshot,
  type TransitionOwnership,
} from '../index.js';

/** A transition that was broken off in an effect, for people. */
interface BrokenOff {
  readonly taskId: unknown;
  readonly decision: EffectDecision;
  readonly effects: readonly Omit<AssessedEffect, 'result'>[];
}

/** What `GET /queue` shows besides what the application adds. */
export interface Queue extends Snapshot {
  /** Those that nobody is in the middle of. */
  readonly transitions: readonly BrokenOff[];
  /** The tasks of those whose owner lives, or may live. */
  readonly underWay: readonly unknown[];
}

/** Reads who holds what, and what was broken off; changes nothing. Whoever asks meanwhile gets the same answer. */
export function queueReader(
  ownership: TransitionOwnership,
  added: (() => object | Promise<object>) | undefined,
): () => Promise<Result<Queue, StoreFailure>> {
  let reading: Promise<Result<Queue, StoreFailure>> | undefined;
  const read = async (): Promise<Result<Queue, StoreFailure>> => {
    try {
      const more = await added?.();
      const taken = await snapshot(ownership);
      const found = await taken.asyncAndThen(() => recoverOnStartup(ownership, { jobs: 'dead-only', dryRun: true }));
      return taken.andThen((seen) =>
        found.andThen(({ transitions, underWay }) =>
          ok({ ...more, ...seen, transitions: transitions.map(brokenOff), underWay }),
        ),
      );
    } finally {
      reading = undefined;
    }
  };
  return () => {
    reading ??= read();
    return reading;
  };
}

/** Without the results of effects: they may be long, and are for programs. */
function brokenOff({ taskId, decision, effects }: { taskId: unknown } & Omit<BrokenOff, 'taskId'>): BrokenOff {
  return {
    taskId,
    decision,
    effects: effects.map(({ result: _, ...effect }: Partial<AssessedEffect>) => effect) as BrokenOff['effects'],
  };
}
