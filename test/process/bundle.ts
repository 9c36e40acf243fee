import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { bundleInto } from './bundled.js';

const sources = fileURLToPath(new URL('programs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'child-programs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
bundleInto(
  folder,
  readdirSync(sources).map((name) => join(sources, name)),
);

/** The path of a program of `programs/`, ready to run. */
export function program(name: string): string {
  return join(folder, `${name}.mjs`);
}
