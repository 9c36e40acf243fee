import { expect, test } from 'vitest';
import { planOf } from './plan.js';
import { table } from './report.js';
import { torture } from './torture.js';

const options = { dialect: 'sqlite', seed: 1, workers: 3 } as const;

const broken = (findings: Awaited<ReturnType<typeof torture>>['findings']) =>
  findings.filter(({ breaches }) => breaches.length > 0).map(({ title }) => title);

test('a plan of faults is made by its seed, and has each of them early', () => {
  const plan = planOf({ seed: 1, forMs: 60_000, ttlMs: 1_200, restarts: true });
  expect(planOf({ seed: 1, forMs: 60_000, ttlMs: 1_200, restarts: true })).toEqual(plan);
  expect(planOf({ seed: 2, forMs: 60_000, ttlMs: 1_200, restarts: true })).not.toEqual(plan);
  expect(new Set(plan.slice(0, 5).map(({ kind }) => kind)).size).toBe(5);
  const withoutServer = planOf({ seed: 1, forMs: 60_000, ttlMs: 1_200, restarts: false });
  expect(withoutServer.filter(({ kind }) => kind === 'restart')).toEqual([]);
  expect(plan.every(({ lastsMs }) => lastsMs > 1_200)).toBe(true);
});

test('workers on one SQLite file keep every rule while they are killed, stopped and robbed', {
  timeout: 90_000,
}, async () => {
  const tortured = { ...options, forMs: 6_000 };
  const report = await torture(tortured);
  expect(broken(report.findings), table(tortured, report)).toEqual([]);
  expect(report.evidence.history.some(({ kind }) => kind === 'stage')).toBe(true);
});

test('workers that write the stage past the fence are found out', { timeout: 90_000 }, async () => {
  const tortured = { ...options, forMs: 10_000, breaks: 'fence' } as const;
  const report = await torture(tortured);
  expect(broken(report.findings), table(tortured, report)).toContain(
    'one stage writer for each token, and only while its lease is there',
  );
});
