import type { Failure } from './failure.js';

/** A failure as it is handed on. JSON has no bigint: without a `toJSON` a log line would be the next failure. */
export function frozen<F extends Failure>(failure: F): F {
  return Object.freeze(Object.defineProperty(failure, 'toJSON', { value: () => jsonOf(failure) }));
}

/** A failure as plain JSON: bigints as their digits, errors as what they say; never the reason of a second error. */
function jsonOf(failure: object): unknown {
  return Object.fromEntries(Object.entries(failure).map(([name, part]) => [name, plain(part)]));
}

function plain(part: unknown): unknown {
  try {
    return part === undefined ? undefined : JSON.parse(JSON.stringify(part, spelled) ?? 'null');
  } catch {
    return 'something that JSON cannot carry';
  }
}

function spelled(_: string, part: unknown): unknown {
  if (typeof part === 'bigint') return part.toString();
  if (!(part instanceof Error)) return part;
  const { name, message, code } = part as Error & { readonly code?: unknown };
  return { name, message, ...(code !== undefined && { code }) };
}
