import type { Context } from '../context.js';
import type { StoreFailure } from '../core/failure.js';
import type { IdValue } from '../core/id.js';

/** As PostgreSQL reads it: hyphens are optional, and so are braces. */
const UUID = /^(?:\{[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}\}|[0-9a-f]{4}(?:-?[0-9a-f]{4}){7})$/i;

/** True of an id that the column of the tasks can hold none of: no task has it, and no statement is to compare it. */
export function isNoId({ survey }: Pick<Context, 'survey'>, taskId: IdValue): boolean {
  if (typeof taskId !== 'string') return false;
  const { idHolds, idLabels } = survey.columns;
  return (idHolds === 'uuid' && !UUID.test(taskId)) || (idHolds === 'enum' && idLabels?.includes(taskId) === false);
}

/** True of a failure that says the same, where no one has looked at the column. */
export function saysNoId({ dialect }: Pick<Context, 'dialect'>, { cause }: StoreFailure): boolean {
  return dialect.isNoValue?.(cause) ?? false;
}
