import { setTimeout as sleep } from 'node:timers/promises';
import { Failed } from './failed.js';
import type { Code, Report } from './report.js';

/**
 * Looks again and again until it is interrupted, and returns how the last look ended.
 *
 * A look that fails is reported and followed by another, for servers come back; only the first must succeed.
 */
export async function watch(
  look: () => Promise<Report>,
  everyMs: number,
  tell: { report(report: Report): void; failure(message: string): void },
): Promise<Code> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  let code: Code | undefined;
  while (!interrupted.signal.aborted) {
    try {
      const report = await look();
      tell.report(report);
      code = report.code;
    } catch (error) {
      if (code === undefined || !(error instanceof Failed)) throw error;
      tell.failure(error.message);
      code = 2;
    }
    await sleep(everyMs, undefined, { signal: interrupted.signal }).catch(() => undefined);
  }
  return code ?? 0;
}
