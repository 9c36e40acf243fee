import { inspectValue } from '../core/inspect-value.js';
import { duration, oneOf, optional, type RulesOf, requestOf } from '../core/request.js';

/** How a file is opened. */
export interface OpenSqliteOptions {
  /**
   * How hard a commit is written. Default `'full'`: a power cut takes back nothing that was acknowledged.
   * `'normal'` is faster and may lose the last commits at a power cut, an acquisition among them.
   */
  readonly synchronous?: 'full' | 'normal';
  /**
   * How long a statement waits for another process's lock, in ms, from 0 to 1,000. Default 100. The wait
   * blocks the event loop, and with it the renewals; longer waits are the library's, between statements.
   */
  readonly busyTimeoutMs?: number;
}

const check = requestOf(
  {
    synchronous: optional(oneOf('full', 'normal'), 'full'),
    busyTimeoutMs: optional(duration(0, 1_000), 100),
  } satisfies RulesOf<OpenSqliteOptions>,
  'options',
);

/** Checks what a file is to be opened with, before anything is opened. */
export function checkOpening(file: string, options: OpenSqliteOptions): Required<OpenSqliteOptions> {
  if (typeof file !== 'string') throw new TypeError(`file must be a string, got ${inspectValue(file)}`);
  if (file === '') throw new RangeError('file must not be empty');
  return check(options);
}
