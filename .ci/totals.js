// Adds up vitest's JSON reports in a folder: `node .ci/totals.js folder` prints `N passed, N failed` alone on a line.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
const runs = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const sum = (key) => runs.reduce((total, run) => total + run[key], 0);

// A file that cannot even be loaded has no test that failed: it counts as one.
const unread = runs
  .flatMap((run) => run.testResults)
  .filter((file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'));
for (const file of unread) console.log(`not run: ${file.name}`);

const failed = sum('numFailedTests') + unread.length;
const skipped = sum('numPendingTests') + sum('numTodoTests');
console.log(`${sum('numPassedTests')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
