import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { Consumer } from './consumer.js';

// Three small projects, each written as a user of that runner would, with the packed package installed.
const consumer = new Consumer(['kysely', 'neverthrow', 'better-sqlite3', 'vitest']);
cpSync(fileURLToPath(new URL('runners', import.meta.url)), consumer.folder, { recursive: true });
const require = createRequire(import.meta.url);

afterAll(() => consumer.remove());

/** A runner's real command, and how it sums up. */
interface Runner {
  readonly folder: string;
  readonly command: readonly string[];
  readonly passed: RegExp;
  readonly failed: RegExp;
}

const runners: readonly Runner[] = [
  {
    folder: 'vitest',
    command: [join(consumer.folder, 'node_modules/vitest/vitest.mjs'), 'run'],
    passed: /^\s*Tests .*?(\d+) passed/m,
    failed: /^\s*Tests .*?(\d+) failed/m,
  },
  {
    folder: 'jest',
    command: [require.resolve('jest/bin/jest'), '--no-cache'],
    passed: /^Tests: .*?(\d+) passed/m,
    failed: /^Tests: .*?(\d+) failed/m,
  },
  {
    folder: 'node-test',
    command: ['--test', '--test-reporter=spec'],
    passed: /^ℹ pass (\d+)/m,
    failed: /^ℹ fail (\d+)/m,
  },
];

/** Runs a command line as from a terminal: what this test's own runner tells its processes is not for others. */
function run(args: readonly string[], cwd: string): { readonly status: number | null; readonly output: string } {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|VITE_|JEST_|NODE_|TEST)/.test(name));
  const env = { ...Object.fromEntries(inherited), NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

const sumUp = (output: string, { passed, failed }: Runner) => ({
  passed: Number(passed.exec(output)?.[1] ?? 0),
  failed: Number(failed.exec(output)?.[1] ?? 0),
});

describe.each(runners)('under $folder', (runner) => {
  const { folder, command } = runner;

  test('handlerSuite and dialectSuite pass good handlers on a good database', () => {
    const { status, output } = run([...command, 'good.test.js'], join(consumer.folder, folder));
    expect(sumUp(output, runner), output).toEqual({ passed: 15, failed: 0 });
    expect(status).toBe(0);
  });

  test('handlerSuite fails broken handlers, drawn, with the line that replays them', () => {
    const { status, output } = run([...command, 'broken.test.js'], join(consumer.folder, folder));
    expect(sumUp(output, runner), output).toEqual({ passed: 3, failed: 2 });
    expect(status).toBe(1);
    const lines = output.split('\n').map((line) => line.trim());
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^[×✕✖] keep their promises when a process is killed at any point and started again\b/),
        expect.stringMatching(/^[×✕✖] keep their promises when an answer is lost\b/),
        expect.stringMatching(/^│ A \(pid 101\) +│ B \(pid 201\) +│ rows$/),
        expect.stringMatching(/^\d+ +0 ms │ ✖ killed \(kill -9\) before: /),
        '✗ the invariant of the handlers: deployed 2 times',
        'Run it again:',
        expect.stringMatching(/^replay: 's2\.\w+\.[-\w]*',$/),
      ]),
    );
  });
});

test('under jest, the optional peer is found from the package, wherever jest is started', () => {
  const config = JSON.stringify({ rootDir: join(consumer.folder, 'jest'), testEnvironment: 'node' });
  const args = [require.resolve('jest/bin/jest'), '--no-cache', '--config', config, 'good', '-t', 'nothing goes wrong'];
  const { status, output } = run(args, dirname(consumer.folder));
  expect(status, output).toBe(0);
});
