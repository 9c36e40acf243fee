import { test } from 'vitest';

/** `test` where the system permits what it needs; else the reason is printed and the test skipped. */
export function testIf(permitted: boolean, otherwise: string): typeof test {
  if (!permitted) process.stderr.write(`Skipped: ${otherwise}.\n`);
  return test.runIf(permitted) as typeof test;
}
