import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { start } from '../process/children.js';
import { newFile, newPath } from '../process/file.js';
import { each, isRecovered, wreck } from '../process/wreck.js';
import { mapping } from './places.js';
import { asked, tool } from './tool.js';

const { finishedAt: _, ...jobs } = mapping.jobs;

function configFor(file: string): readonly [string, string] {
  const path = join(dirname(file), 'config.json');
  writeFileSync(path, JSON.stringify({ tasks: mapping.tasks, jobs, effects: {} }));
  return ['--config', path];
}

/** A copy of what a crash left on the disk: a file, and a WAL that nobody has checkpointed. */
function leftBehind(file: string): string {
  const copy = newPath();
  for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
  return copy;
}

const bytes = (file: string): string => readFileSync(file).toString('base64');

/** Every command that changes nothing. */
const looking = (file: string): readonly (readonly string[])[] => {
  const config = configFor(file);
  return [['status'], ['doctor', ...config], ['sanitize', '--dry-run', ...config], ['recover', '--dry-run', ...config]];
};

test('status tells a process that was killed from one that lives', async () => {
  const file = newFile(2);
  const [live, dead] = [start({ file: file.path }), start({ file: file.path })];
  await live.call('schema');
  await live.call('acquire', { taskId: 1, actor: 'finalizer' });
  await dead.call('acquire', { taskId: 2, actor: 'monitor' });
  const before = await asked('status', '--sqlite', file.path);
  expect(before).toMatchObject({
    code: 0,
    document: {
      leases: [
        { pid: live.pid, reason: 'process-alive' },
        { pid: dead.pid, reason: 'process-alive' },
      ],
    },
  });
  await dead.kill();
  expect(await asked('status', '--sqlite', file.path)).toMatchObject({
    code: 1,
    document: { leases: [{ reason: 'process-alive' }, { verdict: 'dead', reason: 'process-gone' }] },
  });
});

test('recover repairs what a crash left behind, and nothing that lives', async () => {
  const file = await wreck();
  const live = start({ file: file.path });
  await live.call('acquire', { taskId: each + 2, actor: 'finalizer' });
  const order = ['recover', '--sqlite', file.path, ...configFor(file.path), '--this-host'];
  const { code, document } = await asked(...order);
  expect(document).toMatchObject({ sanitized: { found: each }, complete: true, transitions: [{ taskId: 1 }] });
  expect(code).toBe(1); // The effect waits for a word.
  expect(file.leases()).toMatchObject([{ task_id: 1 }, { task_id: each + 2 }]);
  expect(await live.call('release', { taskId: each + 2 })).toEqual({ ok: 'released' });
  isRecovered(file);
});

test('status, doctor and dry runs leave every byte of a file and of its WAL', async () => {
  const file = leftBehind((await wreck()).path);
  const before = [bytes(file), bytes(`${file}-wal`)];
  for (const order of looking(file)) {
    expect((await tool(...order, '--sqlite', file)).code, order[0]).toBe(1);
    expect([bytes(file), bytes(`${file}-wal`)], order[0]).toEqual(before);
  }
});

test('status, doctor and dry runs neither switch a file to WAL nor put anything beside it', async () => {
  const crashed = await wreck();
  const file = newPath();
  crashed.run(`vacuum into '${file}'`);
  const database = new Database(file);
  expect(database.pragma('journal_mode = delete', { simple: true })).toBe('delete');
  database.close();
  const orders = looking(file);
  const before = [bytes(file), ...readdirSync(dirname(file))];
  for (const order of orders) {
    expect((await tool(...order, '--sqlite', file)).code, order[0]).toBe(1);
    expect([bytes(file), ...readdirSync(dirname(file))], order[0]).toEqual(before);
  }
});

test('release does not switch a file to WAL', async () => {
  const crashed = await wreck();
  const file = newPath();
  crashed.run(`vacuum into '${file}'`);
  const [lease] = crashed.rows('select task_id as task, fencing_token as token from transition_lease') as [
    { task: number; token: number },
  ];
  const order = ['--task', String(lease.task), '--token', String(lease.token), '--reason', 'stuck'];
  const { code, stdout } = await tool('release', '--sqlite', file, ...order);
  expect([code, stdout]).toEqual([0, expect.stringContaining('its fenced writes are refused from now on')]);
  const database = new Database(file, { readonly: true });
  expect(database.pragma('journal_mode', { simple: true })).toBe('delete');
  database.close();
});

test('no command makes a file that does not exist', async () => {
  const file = newPath();
  const config = configFor(file);
  const orders = [...looking(file), ['recover', ...config], ['sanitize', ...config]];
  for (const order of [...orders, ['release', '--task', '1', '--token', '1', '--reason', 'stuck']]) {
    expect(await tool(...order, '--sqlite', file)).toEqual({
      code: 2,
      stdout: '',
      stderr: `transition-ownership: There is no file ${file}.\n`,
    });
    expect(existsSync(file)).toBe(false);
  }
});

test('a file that is no database is told, and left as it is', async () => {
  const file = newPath();
  writeFileSync(file, 'certainly not a database, and longer than the header of one'.repeat(4));
  const before = bytes(file);
  expect(await tool('status', '--sqlite', file)).toMatchObject({
    code: 2,
    stderr: `transition-ownership: ${file} cannot be opened: file is not a database.\n`,
  });
  expect(bytes(file)).toBe(before);
});
