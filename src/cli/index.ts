#!/usr/bin/env node
import { run } from './run.js';

// No one takes what is said: a pager that was closed, a disk that is full. That is not the end of a clean look.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(2));
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
