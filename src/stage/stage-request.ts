import type { Context } from '../context.js';
import { columnsOf } from '../core/columns.js';
import { checkId, checkText, type IdValue } from '../core/id.js';
import type { Lease } from '../core/lease.js';
import { shown } from '../core/shown.js';
import { secretOf } from '../runtime/lease-handle.js';
import { isExpression } from '../sql/callers-parts.js';
import type { ExtraColumns } from '../sql/task-statements.js';

/** A stage write after its check. */
export interface CheckedStageWrite {
  readonly taskId: IdValue;
  readonly expected: string | null;
  readonly next: string | null;
  readonly lease: Lease | undefined;
  readonly set: ExtraColumns;
  readonly release: boolean;
  readonly evenIfHeld: boolean;
  readonly context: unknown;
}

/** The request as an untyped caller could send it. */
export type RawStageWrite = { readonly [Name in keyof CheckedStageWrite]?: unknown };

/** Refuses a stage write of the wrong shape, before any statement: a missing `expected` is never "no condition". */
export function checkStageWrite(context: Context, request: RawStageWrite): CheckedStageWrite {
  if (typeof request !== 'object' || request === null)
    throw new TypeError(`request must be an object, got ${shown(request)}`);
  const { taskId, expected, next, context: requestContext } = request;
  const lease = request.lease as Lease | undefined;
  checkId('taskId', context.settings.taskIdType, taskId);
  checkStage('expected', expected);
  checkStage('next', next);
  const set = checkSet(context, request.set === undefined ? {} : request.set);
  const release = checkFlag('release', request.release);
  const evenIfHeld = checkFlag('evenIfHeld', request.evenIfHeld);
  if (lease !== undefined) {
    secretOf(lease, context.root);
    if (lease.taskId !== taskId) {
      throw new RangeError(`lease is of task ${shown(lease.taskId)}, and the write is of task ${shown(taskId)}`);
    }
    if (evenIfHeld) throw new TypeError('evenIfHeld is for writes without a lease');
  } else if (release) throw new TypeError('release needs the lease to be given back');
  return { taskId, expected, next, lease, set, release, evenIfHeld, context: requestContext };
}

function checkStage(name: string, value: unknown): asserts value is string | null {
  if (value !== null) checkText(name, value, 0);
}

function checkFlag(name: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw new TypeError(`${name} must be a boolean, got ${shown(value)}`);
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
        `set must not have the column ${shown(column)}: the stage goes in next, the id never changes`,
      );
    }
  }
  return set;
}
