#!/usr/bin/env node
import { run } from './run.js';

// Whoever reads may have seen enough: a pager that was closed, or `head`.
process.stdout.on('error', () => process.exit());
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
