import { defineConfig } from 'tsup';

/** One bundle without the names that a TypeScript runner adds to every closure: they would be timed too. */
export default defineConfig({
  entry: ['bench/run.ts'],
  outDir: 'bench/dist',
  format: 'esm',
  target: 'node20',
  platform: 'node',
  sourcemap: true,
  skipNodeModulesBundle: true,
  silent: true,
});
