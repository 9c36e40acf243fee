import { execFile } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { checkPromises, type Evidence } from '../../examples/orchestrator/demo/promises.js';
import { Story } from '../../examples/orchestrator/demo/story.js';
import { gates } from '../../examples/orchestrator/stages.js';

interface Ended {
  readonly code: number;
  readonly out: string;
}

/** Runs the demo as `npm run demo` does, its output into a pipe. */
function runDemo(env: Readonly<Record<string, string>>): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, CI: '1', ...env }, timeout: 100_000 };
    execFile(process.execPath, ['--import', 'tsx', 'examples/orchestrator/demo.ts'], options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out + err });
    });
  });
}

describe('npm run demo', () => {
  test('keeps every promise through every disaster, and says so plainly into a pipe', {
    timeout: 120_000,
  }, async () => {
    const { code, out } = await runDemo({ OWNERSHIP_MODE: 'on' });
    expect(out).toContain('All kept');
    expect(out.match(/deferred: the owner is live \(process-alive\)/g)).toHaveLength(3);
    expect(out).toContain('1 of 4 merged, 1 moved the task');
    expect(out).toMatch(/reclaimed the lease \(token \d+\): process-gone/);
    expect(out).toContain('it was dead (expired)');
    expect(out).toContain('its next step ended with lease-lost');
    expect(out).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  test('ends with an error when the kill switch takes the guard away', { timeout: 120_000 }, async () => {
    const { code, out } = await runDemo({ OWNERSHIP_MODE: 'off' });
    expect(out).toContain('4 of 4 merged');
    expect(out).toContain('merge_pr of task 1: 4 times');
    expect(out).toMatch(/2 of 4 broken/);
    expect(code).toBe(1);
  });
});

describe('checkPromises', () => {
  const effects = Object.values(gates).flat();
  const kept: Evidence = {
    applied: effects.map((effect) => ({ effect, taskId: 1, key: 'c0ffee', fencingToken: 7, pid: 100 })),
    tasks: [{ id: 1, sha: 'c0ffee', stage: 'done' }],
    leases: [],
  };
  const [first] = kept.applied;
  if (first === undefined) throw new Error('there are no gates');

  const broken = (evidence: Partial<Evidence>) =>
    checkPromises({ ...kept, ...evidence }).flatMap((promise) => promise.broken);

  test('finds nothing wrong with a day on which all went well', () => {
    expect(broken({})).toEqual([]);
  });

  test('finds an effect that was applied twice', () => {
    expect(broken({ applied: [...kept.applied, { ...first, pid: 101 }] })).toEqual(['merge_pr of task 1: 2 times']);
  });

  test('finds an effect that was never applied', () => {
    expect(broken({ applied: kept.applied.slice(1) })).toEqual(['merge_pr of task 1: 0 times']);
  });

  test('finds a task that is stuck', () => {
    expect(broken({ tasks: [{ id: 1, sha: 'c0ffee', stage: 'deploy' }] })).toEqual(['task 1 is in deploy']);
  });

  test('finds a fencing token that shrank, and a step without one', () => {
    const [, second, ...rest] = kept.applied;
    if (second === undefined) throw new Error('there is one gate only');
    expect(broken({ applied: [first, { ...second, fencingToken: 6 }, ...rest] })).toEqual([
      'ratchet_coverage of task 1: token 6 after 7',
    ]);
    expect(broken({ applied: [first, { ...second, fencingToken: null }, ...rest] })).toEqual([
      'ratchet_coverage of task 1 was asked for without a token',
    ]);
  });
});

describe('Story', () => {
  const tell = (colors: boolean): string => {
    const lines: string[] = [];
    const story = new Story({ colors, write: (line) => lines.push(line) });
    story.chapter('The owner is killed');
    story.promise({ text: 'each effect exactly once', broken: ['merge_pr of task 1: 2 times'] });
    return lines.join('\n');
  };

  test('is plain text without colours', () => {
    expect(tell(false)).toBe(
      '\n1. The owner is killed\n   BROKEN  each effect exactly once\n         merge_pr of task 1: 2 times',
    );
  });

  test('uses colours on a terminal', () => {
    expect(tell(true)).toContain('\u001b[');
  });
});
