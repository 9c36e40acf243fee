import { assessRunningJob, type RunningAssessment, type RunningEvidence } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import {
  type JobProcess,
  judgeJobProcess,
  type NamedProcess,
  type ProcessObservation,
} from '../../src/core/job-process.js';
import { ReapMemory } from '../../src/core/reap-memory.js';

describe('assessRunningJob', () => {
  const limits = { deadTicks: 2, finalizeGraceMs: 1_000, maxRunningMs: 60_000 };
  const dead: RunningEvidence = {
    pid: 77,
    process: 'dead',
    deadTicks: 2,
    deadForMs: 1_000,
    runningForMs: 60_000,
    lease: 'none',
  };
  const rows: [title: string, evidence: Partial<RunningEvidence>, outcome: RunningAssessment][] = [
    ['reaps tier 1 at both bounds', {}, { state: 'reap', tier: 1, reason: 'process-gone' }],
    ['reaps tier 1 under a dead lease', { lease: 'dead' }, { state: 'reap', tier: 1, reason: 'process-gone' }],
    [
      'suspects below deadTicks',
      { deadTicks: 1, deadForMs: 9_999 },
      { state: 'suspected', tier: null, reason: 'too-few-ticks' },
    ],
    [
      'suspects within the grace',
      { deadTicks: 9, deadForMs: 999 },
      { state: 'suspected', tier: null, reason: 'within-grace' },
    ],
    ['defers to a live lease', { lease: 'live' }, { state: 'deferred', tier: 2, reason: 'lease-live' }],
    ['defers to an unknown lease', { lease: 'unknown' }, { state: 'deferred', tier: 2, reason: 'lease-unknown' }],
    [
      'defers to an unreadable lease',
      { lease: 'unreadable' },
      { state: 'deferred', tier: 2, reason: 'lease-unreadable' },
    ],
    [
      'defers from the first tick on',
      { lease: 'live', deadTicks: 1, deadForMs: 0 },
      { state: 'deferred', tier: 2, reason: 'lease-live' },
    ],
    ['lets the living be', { process: 'alive' }, { state: 'alive', tier: null, reason: 'process-alive' }],
    ['lets be what nobody can tell', { process: 'unknown' }, { state: 'alive', tier: null, reason: 'no-evidence' }],
    ['never counts a job without a pid', { pid: null }, { state: 'starting', tier: null, reason: 'no-pid' }],
    ...(['alive', 'dead', 'unknown'] as const).flatMap((process) =>
      (['none', 'live', 'unknown', 'dead', 'unreadable'] as const).map(
        (lease): [string, Partial<RunningEvidence>, RunningAssessment] => [
          `reaps tier 3 past maxRunningMs, process ${process}, lease ${lease}`,
          { runningForMs: 60_001, process, lease, deadTicks: 0, deadForMs: 0 },
          { state: 'reap', tier: 3, reason: 'running-too-long' },
        ],
      ),
    ),
    [
      'reaps tier 3 without a pid',
      { runningForMs: 60_001, pid: null },
      { state: 'reap', tier: 3, reason: 'running-too-long' },
    ],
  ];
  test.each(rows)('%s', (_title, evidence, outcome) => {
    expect(assessRunningJob({ ...dead, ...evidence }, limits)).toEqual(outcome);
  });
});

describe('judgeJobProcess', () => {
  const named: NamedProcess = { pid: 77, host: 'here', pidStart: 'one' };
  type Sight = ProcessObservation['sight'];
  const never: Sight = () => {
    throw new Error('this pid means nothing here, and must not be looked up');
  };
  const gone: Sight = () => ({ state: 'gone', start: null });
  const failed: Sight = () => ({ state: 'unknown', start: null });
  const started =
    (start: string | null): Sight =>
    () => ({ state: 'exists', start });
  const bare = { host: null, pidStart: null };
  const rows: [string, Partial<NamedProcess>, ProcessObservation['pidScope'], Sight, JobProcess][] = [
    ['no pid', { pid: null }, 'named-host', never, 'unknown'],
    ['pids that mean nothing', {}, 'nowhere', never, 'unknown'],
    ['another host', { host: 'there' }, 'named-host', never, 'unknown'],
    ['no host', { host: null }, 'named-host', never, 'unknown'],
    ['a pid that is gone', {}, 'named-host', gone, 'dead'],
    ['a probe that failed', {}, 'named-host', failed, 'unknown'],
    ['a pid with another start mark', {}, 'named-host', started('two'), 'dead'],
    ['a pid with the same start mark', {}, 'named-host', started('one'), 'alive'],
    ['a pid whose start cannot be read', {}, 'named-host', started(null), 'alive'],
    ['a row without a start mark', { pidStart: null }, 'named-host', started('one'), 'alive'],
    ['a bare pid of this host that is gone', bare, 'this-host', gone, 'dead'],
    ['a bare pid of this host that exists', bare, 'this-host', started('one'), 'alive'],
  ];
  test.each(rows)('calls %s what it is', (_title, row, pidScope, sight, outcome) => {
    expect(judgeJobProcess({ ...named, ...row }, { pidScope, self: { host: 'here' }, sight })).toBe(outcome);
  });
});

describe('ReapMemory', () => {
  const look = (memory: ReapMemory, nowMs: number, gapMs: number) => {
    const tick = memory.begin(nowMs, gapMs);
    const suspicion = memory.suspect(tick, 'run');
    memory.keep(tick);
    return suspicion;
  };

  test('counts ticks, and time from the first of them', () => {
    const memory = new ReapMemory(1_000);
    expect(look(memory, 100, 0)).toEqual({ deadTicks: 1, deadForMs: 0 });
    expect(look(memory, 400, 300)).toEqual({ deadTicks: 2, deadForMs: 300 });
    expect(look(memory, 900, 500)).toEqual({ deadTicks: 3, deadForMs: 800 });
  });

  test('begins anew after a gap that is too long', () => {
    const memory = new ReapMemory(1_000);
    look(memory, 0, 0);
    expect(look(memory, 1_000, 1_000)).toEqual({ deadTicks: 2, deadForMs: 1_000 });
    expect(look(memory, 3_001, 2_001)).toEqual({ deadTicks: 1, deadForMs: 0 });
  });

  test('takes a gap no longer than twice the one before for the rhythm', () => {
    const memory = new ReapMemory(1_000);
    look(memory, 0, 0);
    expect(look(memory, 5_000, 5_000)).toEqual({ deadTicks: 1, deadForMs: 0 });
    expect(look(memory, 15_000, 10_000)).toEqual({ deadTicks: 2, deadForMs: 10_000 });
  });

  test('forgets what a tick did not see again, and what a tick saw that was not kept', () => {
    const memory = new ReapMemory(1_000);
    look(memory, 0, 0);
    memory.keep(memory.begin(1, 1));
    expect(look(memory, 2, 1)).toEqual({ deadTicks: 1, deadForMs: 0 });
    memory.suspect(memory.begin(3, 1), 'run');
    expect(look(memory, 4, 1)).toEqual({ deadTicks: 2, deadForMs: 2 });
  });
});
