import { createRequire } from 'node:module';
import { type BuildOptions, buildSync } from 'esbuild';

const { resolve } = createRequire(import.meta.url);
const drivers = Object.fromEntries(['better-sqlite3', 'pg', 'mysql2'].map((driver) => [driver, resolve(driver)]));

/** Bundles programs and `src/` into a folder, in a tenth of a second: a child starts four times as fast as under tsx. */
export function bundleInto(outdir: string, entryPoints: NonNullable<BuildOptions['entryPoints']>): void {
  buildSync({
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    alias: drivers,
    external: Object.values(drivers),
  });
}
