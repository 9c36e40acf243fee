import type { ViteUserConfig } from 'vitest/config';

/** `TEST_REPORT=folder` adds a JSON report of each run to that folder; `.ci/run` counts from it. */
const folder = process.env['TEST_REPORT'];

export const reporters: NonNullable<NonNullable<ViteUserConfig['test']>['reporters']> =
  folder === undefined ? ['default'] : ['default', ['json', { outputFile: `${folder}/${String(process.pid)}.json` }]];
