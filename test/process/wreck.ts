import { expect } from 'vitest';
import { start } from './children.js';
import { type Look, newFile } from './file.js';

/** How many of each thing the crash left behind. */
export const each = 3;

/**
 * What a crash leaves behind: running jobs of a dead process, queued jobs that carry its run, leases that it held,
 * and a transition that it was killed in between its effect and the note that the effect was applied.
 */
export async function wreck(): Promise<Look> {
  const file = newFile(each + 2);
  file.queue(each);
  const dead = start({ file: file.path, journal: true });
  await dead.call('schema');
  expect(await dead.call('takeJobs', {})).toHaveLength(each);
  for (let id = each + 1; id <= 2 * each; id += 1) {
    file.run(`insert into jobs (id, task_id, status, run_id, pid) values (${id}, ${id}, 'queued', 7, ${dead.pid})`);
  }
  for (let taskId = 2; taskId <= each + 1; taskId += 1) {
    expect(await dead.call('acquire', { taskId, actor: 'monitor' })).toHaveProperty('ok');
  }
  await dead.kill();
  // By hand: nothing but their leases tells of them.
  file.run(`update tasks set stage = 'done' where id between 2 and ${each + 1}`);
  const killAt = { statement: '^update "transition_effect"', when: 'before' } as const;
  const inEffect = start({ file: file.path, journal: true, killAt });
  await expect(inEffect.call('transition', { taskId: 1, effect: 'journalled' })).rejects.toThrow('SIGKILL');
  expect(file.leases()).toHaveLength(each + 1);
  expect(file.effects()).toHaveLength(1);
  return file;
}

/** Nothing of it is left but the transition, whose effect is known to have been applied, and its lease. */
export function isRecovered(file: Look): void {
  expect(file.leases()).toMatchObject([{ task_id: 1 }]);
  const ids = Array.from({ length: 2 * each }, (_, index) => index + 1);
  const queued = ids.map((id) => ({ id, status: 'queued', run_id: null, pid: null, started_at: null }));
  expect(file.rows('select id, status, run_id, pid, started_at from jobs')).toEqual(queued);
  expect(file.effects()).toHaveLength(1);
}
