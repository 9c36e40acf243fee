import { createHash } from 'node:crypto';

/** What an idempotency key stands for. */
export interface IdempotencyParts {
  readonly schema: string | undefined;
  readonly table: string;
  readonly taskId: number | bigint | string;
  readonly effect: string;
  readonly key: string;
}

/** The same 64 hexadecimal digits for the same parts, in every process and at every try. */
export function idempotencyKeyOf({ schema, table, taskId, effect, key }: IdempotencyParts): string {
  const parts = [schema ?? null, table, String(taskId), effect, key];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
