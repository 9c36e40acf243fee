import { describe, expect, test } from 'vitest';
import { type Child, start } from './children.js';
import { type Look, newFile } from './file.js';

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];

async function workers(file: Look, parkBefore?: string): Promise<Child[]> {
  const children = EIGHT.map(() => start({ file: file.path, ...(parkBefore !== undefined && { parkBefore }) }));
  await children[0]?.call('schema');
  await Promise.all(children.map((child) => child.call('identity')));
  return children;
}

describe('eight processes', () => {
  test('claimNextJob: take 200 jobs, each once, and stamp what they took', async () => {
    const file = newFile();
    file.queue(200);
    const children = await workers(file);
    const taken = await Promise.all(children.map((child) => child.call('takeJobs', {})));
    expect(taken.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    const pids = file.rows('select pid, count(*) as jobs from jobs group by pid') as { pid: number; jobs: number }[];
    const told = children
      .map(({ pid }, index) => ({ pid, jobs: taken[index]?.length }))
      .filter(({ jobs }) => jobs !== 0);
    expect(pids).toEqual(told.sort((a, b) => a.pid - b.pid));
  });

  test('claimNextJob: all eight at the update for one queued job: one has it, the others have none', async () => {
    const file = newFile();
    file.queue(1);
    const children = await workers(file, '^\\s*update');
    const claims = children.map((child) => child.call('claim'));
    await Promise.all(children.map((child) => child.said('parked')));
    await Promise.all(children.map((child) => child.call('proceed')));
    const jobs = (await Promise.all(claims)).map((claim) => ('ok' in claim ? (claim.ok?.jobId ?? null) : claim.err));
    expect(jobs.filter((job) => job !== null)).toEqual([1]);
  });

  test('sanitizeImpossibleQueued: all eight over 50 impossible jobs repair each once between them', async () => {
    const file = newFile();
    file.queue(50, ', run_id, pid', ', 7, 77');
    const children = await workers(file);
    const reports = await Promise.all(children.map((child) => child.call('sanitize')));
    const sanitized = reports.flatMap((report) => ('ok' in report ? report.ok.sanitized : []));
    expect(sanitized.map(({ jobId }) => jobId).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    expect(file.rows('select 1 from jobs where run_id is not null or pid is not null')).toEqual([]);
  });

  test('requeueRunningJobs: all eight return the jobs of a dead process, each once, and leave those of the living', async () => {
    const file = newFile();
    file.queue(40);
    const children = await workers(file);
    await children[0]?.call('takeJobs', { most: 10 });
    const dead = start({ file: file.path });
    await dead.call('takeJobs', {});
    await dead.kill();
    const reports = await Promise.all(children.map((child) => child.call('requeue')));
    const requeued = reports.flatMap((report) => ('ok' in report ? report.ok.requeued : []));
    expect(requeued.map(({ jobId }) => jobId).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 11),
    );
    expect(file.rows(`select pid, count(*) as jobs from jobs where status = 'running' group by pid`)).toEqual([
      { pid: children[0]?.pid, jobs: 10 },
    ]);
  });
});
