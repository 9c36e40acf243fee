import type { Context } from '../context.js';
import { columnsOf } from '../core/columns.js';
import type { IdValue } from '../core/id.js';
import { inspectValue } from '../core/inspect-value.js';
import type { Lease } from '../core/lease.js';
import { boolean, given, nullable, optional, type RulesOf, requestOf, signal, stage, taskId } from '../core/request.js';
import { secretOf } from '../holding/lease-handle.js';
import type { ContextOf, NextStage, Shape } from '../shape.js';
import { isExpression } from '../sql/callers-parts.js';
import type { ExtraColumns } from '../sql/task-statements.js';

/** A request for a stage write. */
export type StageRequest<S extends Shape, From extends S['stage'] = S['stage']> = StageMove<S, From> & ContextOf<S>;

/** Such a request without what its `scope` decides by. */
export interface StageMove<S extends Shape, From extends S['stage'] = S['stage']> {
  /** The task to move. */
  readonly taskId: S['taskId'];
  /** The stage that it must be in; `null` is a value. */
  readonly expected: From;
  /** The stage that it goes to. */
  readonly next: NextStage<S, From>;
  /** The lease that fences the write. Without one, no one may hold the task. */
  readonly lease?: Lease<S['taskId']> | undefined;
  /** Further columns of the task to set in the same UPDATE. */
  readonly set?: Partial<S['taskSet']> | undefined;
  /** Gives the lease back in the same commit; a lost race gives nothing back. */
  readonly release?: boolean | undefined;
  /** Writes even if another process holds the task; only without a lease. */
  readonly evenIfHeld?: boolean | undefined;
  /**
   * Ends the wait when it fires: `store-failure` at once, `not-applied` if no write was sent, else `unknown`; what comes
   * late is told by events.
   */
  readonly signal?: AbortSignal | undefined;
}

/** A stage write after its check. */
export interface CheckedStageWrite {
  readonly taskId: IdValue;
  readonly expected: string | null;
  readonly next: string | null;
  readonly lease: Lease | undefined;
  readonly set: ExtraColumns;
  readonly release: boolean;
  readonly evenIfHeld: boolean;
  readonly signal: AbortSignal | undefined;
  readonly context: unknown;
}

const check = requestOf({
  taskId,
  expected: nullable(stage),
  next: nullable(stage),
  lease: given,
  set: given,
  release: optional(boolean, false),
  evenIfHeld: optional(boolean, false),
  signal: optional(signal),
  context: given,
} satisfies RulesOf<StageRequest<Shape>>);

/** Throws for a stage write of the wrong shape, before any statement: a missing `expected` is never "no condition". */
export function checkStageWrite(context: Context, request: unknown): CheckedStageWrite {
  const checked = check(request, context.settings);
  const { taskId, expected, next, release, evenIfHeld, signal, context: asked } = checked;
  const lease = checked.lease as Lease | undefined;
  const set = checkSet(context, checked.set === undefined ? {} : checked.set);
  if (lease !== undefined) {
    const secret = secretOf(lease, context.root);
    // The request for the lease may have spelled the id in another way than the row does.
    const isAsked = secret.guarded && secret.holding.facts.askedId === taskId;
    if (lease.taskId !== taskId && !isAsked) {
      throw new RangeError(
        `lease is of task ${inspectValue(lease.taskId)}, and the write is of task ${inspectValue(taskId)}`,
      );
    }
    if (evenIfHeld) throw new TypeError('evenIfHeld is for writes without a lease');
  } else if (release) throw new TypeError('release needs the lease to be given back');
  return { taskId, expected, next, lease, set, release, evenIfHeld, signal, context: asked };
}

function checkSet({ settings }: Context, given: unknown): ExtraColumns {
  const set = columnsOf('set', given, 'write null');
  const { tasks, idColumn, stageColumn } = settings;
  for (const [column, value] of Object.entries(set)) {
    if (typeof value === 'function' || isExpression(value)) {
      const got = typeof value === 'function' ? 'a function' : 'an expression';
      throw new TypeError(`set.${column} must be a value, got ${got}`);
    }
    if ([idColumn, stageColumn].some((kept) => tasks.isSameColumn(kept, column))) {
      throw new TypeError(
        `set must not have the column ${inspectValue(column)}: the stage goes in next, the id never changes`,
      );
    }
  }
  return set;
}
