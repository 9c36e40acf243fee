import type { Process } from '../../../src/testing/index.js';

let busy = false;

/** Takes a variable of its module for a lock. */
export default async (process: Process): Promise<string> => {
  if (busy) return 'busy';
  busy = true;
  await process.effect('deploy', () => undefined);
  return 'deployed';
};
