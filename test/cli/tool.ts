import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, vi } from 'vitest';
import { bundleInto } from '../process/bundled.js';

// Processes start slowly on a machine that has much else to do.
vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), 'operators-tool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
bundleInto(
  folder,
  ['index.ts', 'verify/worker.ts'].map((name) => fileURLToPath(new URL(`../../src/cli/${name}`, import.meta.url))),
);

const living = new Set<ChildProcess>();
afterEach(() => {
  for (const child of living) child.kill('SIGKILL');
});

/** How the tool ended, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The tool at work. */
export interface Working {
  readonly ended: Promise<Ended>;
  /** Waits until it has printed so many lines. */
  lines(count: number): Promise<readonly string[]>;
  interrupt(): void;
  /** Reads no more of what it prints. */
  leave(): void;
}

/** Starts the real program; by default in the folder of this project, which has every driver. */
export function begin(args: readonly string[], cwd?: string): Working {
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn(process.execPath, [join(folder, 'index.mjs'), ...args], { stdio: 'pipe', env, cwd });
  living.add(child);
  const heard = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text) => (heard[name] += String(text)));
  const ended = once(child, 'close').then(([code]) => {
    living.delete(child);
    return { code: code as number | null, ...heard };
  });
  return {
    ended,
    lines: async (count) => {
      for (;;) {
        const lines = heard.stdout.split('\n').slice(0, -1);
        if (lines.length >= count) return lines;
        await Promise.race([once(child.stdout, 'data'), ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
      }
    },
    interrupt: () => void child.kill('SIGINT'),
    leave: () => void child.stdout.destroy(),
  };
}

/** Runs the real program to its end. */
export const tool = (...args: readonly string[]): Promise<Ended> => begin(args).ended;

/** The same with `--json`: the document, as a program reads it. */
export async function asked(...args: readonly string[]): Promise<{ code: number | null; document: unknown }> {
  const { code, stdout } = await tool(...args, '--json');
  return { code, document: JSON.parse(stdout) as unknown };
}
