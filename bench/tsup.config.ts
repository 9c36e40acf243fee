import { defineConfig, type Options } from 'tsup';

const built: Options = {
  outDir: 'bench/dist',
  format: 'esm',
  target: 'node20',
  platform: 'node',
  skipNodeModulesBundle: true,
  silent: true,
};

/** One bundle without the names that a TypeScript runner adds to every closure, for they would be timed too. */
export default defineConfig([
  { ...built, entry: ['bench/run.ts'], sourcemap: true },
  { ...built, entry: { core: 'src/index.ts' }, minify: true },
]);
