import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { reporters } from './reporters.js';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  // Tests and examples import the package by its name and get `src/`, as `paths` in tsconfig.json says: no build.
  resolve: { tsconfigPaths: true },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/package/**'],
    pool: 'forks',
    testTimeout: 20_000,
    reporters,
    typecheck: {
      enabled: true,
      include: ['test/types/*.test-d.ts'],
      tsconfig: 'test/types/tsconfig.json',
      ignoreSourceErrors: true, // `npm run typecheck` reports them
    },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text', 'lcov'],
      thresholds: { lines: 90, functions: 90, statements: 90, branches: 80 },
    },
  },
});
