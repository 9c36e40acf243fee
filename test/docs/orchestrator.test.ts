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
  test('keeps every promise through six disasters, and says so plainly into a pipe', { timeout: 120_000 }, async () => {
    const { code, out } = await runDemo({ OWNERSHIP_MODE: 'on' });
    for (const told of [
      /"go on": 409 Task 1 is held by monitor .*: live, process-alive/,
      /"it is in deploy": 409 lease-busy/,
      /the reconciler defers to a live owner/,
      /the reaper sees the run's process gone, and defers/,
      /monitor, restarted .* reclaimed the lease .*: process-gone/,
      /deploy_production was begun and never recorded; .*: done \(probe\)/,
      /(first|second) heir did merge_pr \(apply\)/,
      /the reaper's tick cleared job \d+, .*: run 4711, pid \d+/,
      /the stranger is alive/,
      /release of token \d+: 409 token-mismatch/,
      /refused at its next step \(lease lost: gone\)/,
      /until the owner is dead \(expired\)/,
      /refused at its next step \(lease lost: unverifiable\)/,
      /job \d+ was queued and carried run 4711/,
      /All kept, in/,
    ]) {
      expect(out).toMatch(told);
    }
    expect(out.match(/reclaimed the lease: process-gone/g)).toHaveLength(1); // of two that recovered at once
    expect(out).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  test('ends with an error when the kill switch takes the guard away', { timeout: 120_000 }, async () => {
    const { code, out } = await runDemo({ OWNERSHIP_MODE: 'off' });
    expect(out).toMatch(/merge_pr of task 1: [2-4] times/); // by chance, which is the point
    expect(out).toMatch(/[2-5] of 5 broken/);
    expect(code).toBe(1);
  });
});

describe('checkPromises', () => {
  const step = { taskId: 1, key: 'web@c0ffee', fencingToken: 7, pid: 100 };
  const effects = Object.values(gates).flat();
  const kept: Evidence = {
    applied: effects.map((effect) => ({ ...step, effect })),
    tasks: [{ id: 1, stage: 'done' }],
    jobs: [{ id: 3, status: 'succeeded', owned: true }],
    leases: [],
  };
  const broken = (evidence: Partial<Evidence>) =>
    checkPromises({ ...kept, ...evidence }).flatMap((promise) => promise.broken);

  test('finds nothing wrong with a day on which all went well', () => {
    expect(broken({})).toEqual([]);
  });

  test('finds a step that was taken twice', () => {
    const applied = [...kept.applied, { ...step, effect: 'merge_pr', pid: 101 }];
    expect(broken({ applied })).toEqual(['merge_pr of task 1: 2 times']);
  });

  test('finds a step that was never taken', () => {
    expect(broken({ applied: kept.applied.slice(1) })).toEqual(['merge_pr of task 1: 0 times']);
  });

  test('finds a task that is stuck, and a job that was never closed', () => {
    expect(broken({ tasks: [{ id: 1, stage: 'deploy' }] })).toEqual(['task 1 is in deploy']);
    expect(broken({ jobs: [{ id: 3, status: 'running', owned: true }] })).toEqual(['job 3 is running']);
  });

  test('finds a queued job that carries a run', () => {
    expect(broken({ jobs: [{ id: 3, status: 'queued', owned: true }] })).toEqual(['job 3 is queued', 'job 3 does']);
  });

  test('finds a fencing token that shrank, and a step without one', () => {
    const [first, , ...rest] = kept.applied;
    const withSecond = (fencingToken: number | null) =>
      broken({ applied: [first ?? never(), { ...step, effect: 'ratchet_coverage', fencingToken }, ...rest] });
    expect(withSecond(6)).toEqual(['ratchet_coverage of task 1: token 6 after 7']);
    expect(withSecond(null)).toEqual(['ratchet_coverage of task 1 was taken without a token']);
  });

  test('finds a lease that somebody still holds', () => {
    expect(broken({ leases: [{ taskId: 1, actor: 'monitor', pid: 100 }] })).toEqual([
      'task 1 is held by monitor (pid 100)',
    ]);
  });
});

function never(): never {
  throw new Error('there are no gates');
}

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
