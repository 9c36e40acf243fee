#!/usr/bin/env node
import { run } from './run.js';

// Whoever reads may have seen enough: a pager that was closed, or `head`.
process.stdout.on('error', () => process.exit());
process.exitCode = await run(process.argv.slice(2));
