import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { handlerSuite, memoryStore, type Runner } from '../../src/testing/index.js';
import { define } from './runners/suite.js';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const project = fileURLToPath(new URL('runners/node-test.ts', import.meta.url));

describe('handlerSuite takes the runner that it is given', () => {
  define({ describe, test, afterAll });

  test('node:test, in a process of its own', async () => {
    // A runner that finds itself inside another one reports to that one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await run(process.execPath, ['--import', tsx, '--test', '--test-reporter=tap', project], {
      env,
    });
    expect(stdout).toMatch(/ok 1 - keep their promises when the given faults/);
    expect(stdout).toMatch(/# fail 0/);
  }, 60_000);

  test('jest: names and functions only, a limit in third place, nothing but describe defines tests', () => {
    const calls: unknown[][] = [];
    let inDescribe = false;
    const jest: Runner = {
      describe(name, body) {
        calls.push(['describe', name]);
        inDescribe = true;
        body();
        inDescribe = false;
      },
      test(name, body, timeoutMs) {
        // jest refuses a test whose function takes an argument (`done`) and answers a promise.
        expect([inDescribe, body.length, typeof timeoutMs]).toEqual([true, 0, 'number']);
        calls.push(['test', name]);
      },
      afterAll: (body) => void calls.push(['afterAll', body.length]),
    };
    handlerSuite(jest, { store: () => memoryStore(), machine: { initial: 'a', final: ['a'], handlers: {} } });
    expect(calls.map(([what]) => what)).toEqual(['describe', 'test', 'test', 'test', 'test', 'test', 'afterAll']);
  });
});
