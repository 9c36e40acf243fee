import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { reporters } from './reporters.js';

/** These measure how long the event loop of a process stood still: nothing else may run meanwhile. */
const alone = ['test/process/{paused,write-lock}.test.ts'];

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  // Tests and examples import the package by its name and get `src/`, as `paths` in tsconfig.json says: no build.
  resolve: { tsconfigPaths: true },
  test: {
    pool: 'forks',
    testTimeout: 60_000,
    reporters,
    projects: [
      {
        extends: true,
        test: {
          name: 'beside',
          include: ['test/**/*.test.ts'],
          exclude: ['test/package/**', ...alone],
          // Two files at a time share nothing: each has files, databases and processes of its own.
          maxWorkers: 2,
          typecheck: {
            enabled: true,
            include: ['test/types/*.test-d.ts'],
            tsconfig: 'test/types/tsconfig.json',
            ignoreSourceErrors: true, // `npm run typecheck` reports them
          },
        },
      },
      { extends: true, test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text', 'lcov'],
      thresholds: { lines: 90, functions: 90, statements: 90, branches: 80 },
    },
  },
});
