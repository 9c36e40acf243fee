import { expect, test } from 'vitest';
import { start } from './children.js';
import { each, isRecovered, wreck } from './wreck.js';

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];

test('recoverOnStartup: eight processes that start at once recover each row once between them', async () => {
  const file = await wreck();
  const children = EIGHT.map(() => start({ file: file.path, journal: true }));
  await Promise.all(children.map((child) => child.call('identity')));
  const reports = (await Promise.all(children.map((child) => child.call('recoverOnStartup')))).flatMap((report) =>
    'ok' in report ? [report.ok] : [],
  );
  expect(reports).toHaveLength(8);
  const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b);
  expect(sorted(reports.flatMap(({ jobs }) => jobs.requeued.map(({ jobId }) => jobId)))).toEqual([1, 2, 3]);
  expect(sorted(reports.flatMap(({ sanitized }) => sanitized.sanitized.map(({ jobId }) => jobId)))).toEqual([4, 5, 6]);
  expect(sorted(reports.flatMap(({ reclaimed }) => reclaimed.map(({ taskId }) => Number(taskId))))).toEqual([2, 3, 4]);
  for (const { transitions } of reports) {
    expect(transitions).toMatchObject([{ taskId: 1, decision: 'converge' }]);
  }
  isRecovered(file);

  const again = await start({ file: file.path, journal: true }).call('recoverOnStartup');
  expect(again).toMatchObject({
    ok: {
      jobs: { requeued: [], skipped: [] },
      sanitized: { found: 0 },
      reclaimed: [],
      transitions: [{ taskId: 1, decision: 'converge' }],
      complete: true,
    },
  });
});

test('recoverOnStartup: leaves what the living hold, whatever it looks like', async () => {
  const file = await wreck();
  const living = start({ file: file.path, journal: true });
  await living.call('identity');
  file.run(
    `insert into jobs (id, task_id, status, run_id, pid, started_at) values (99, 99, 'running', 99, ${living.pid}, '2026-01-02 03:04:05.678')`,
  );
  file.run(`insert into tasks (id, stage) values (99, 'deploy')`);
  expect(await living.call('acquire', { taskId: 99, actor: 'monitor' })).toHaveProperty('ok');
  const report = await start({ file: file.path, journal: true }).call('recoverOnStartup');
  if ('err' in report) throw new Error(report.err.message);
  expect(report.ok.jobs.requeued).toHaveLength(each);
  expect(report.ok.jobs.kept).toEqual([99]);
  expect(file.leases()).toMatchObject([{ task_id: 1 }, { task_id: 99 }]);
  expect(await living.call('write', { taskId: 99, expected: 'deploy', next: 'done' })).toHaveProperty('ok');
});
