import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { expect, test } from 'vitest';
import { kinds, mapping } from './places.js';
import { tool } from './tool.js';

const guide = readFileSync('examples/guides/operate.md', 'utf8');

/** A table whose durations are hidden, with the widths that go with them. */
const timeless = (text: string): string =>
  text.replaceAll(/-?\b\d+[smhd]( \d+[smhd])?(?= )/g, 'T').replaceAll(/ {2,}/g, '  ');

test('status prints what the guide shows', async () => {
  const [, line = '', shown = ''] =
    /^```text\n\$ npx transition-ownership (status [^\n]*)\n(.*?)^```$/ms.exec(guide) ?? [];
  expect(shown).not.toBe('');
  await using place = await kinds.sqlite.open();
  const own = createTransitionOwnership({ db: place.db, tasks: mapping.tasks });
  (await ensureSchema(own))._unsafeUnwrap();
  const tasks = [
    { id: 7, stage: 'deploy-staging' },
    { id: 9, stage: 'deploy' },
  ];
  await place.db.insertInto('tasks').values(tasks).execute();
  const request = { taskId: 7, actor: 'monitor', stage: 'deploy-staging' };
  (await acquireLease(own, request))._unsafeUnwrap();
  (await acquireLease(own, { taskId: 9, actor: 'finalizer', stage: 'deploy', runId: 3 }))._unsafeUnwrap();
  await sql`update transition_lease set owner_host = 'boot/pid/time/web-1', owner_pid = 4711, fencing_token = 41,
    acquired_ms = acquired_ms - 12000, expires_ms = expires_ms - 12000 where task_id = 7`.execute(place.db);
  await sql`update transition_lease set owner_host = 'boot/pid/time/web-2', owner_pid = 815, fencing_token = 42,
    acquired_ms = acquired_ms - 80000, expires_ms = expires_ms - 80000 where task_id = 9`.execute(place.db);
  const [, file] = place.database;
  const args = line.split(' ').map((word) => (word === 'orchestrator.sqlite' ? file : word));
  const { code, stdout, stderr } = await tool(...args);
  expect([code, stderr]).toEqual([1, '']);
  expect(timeless(stdout)).toBe(timeless(shown));
  void (await own.close());
});

test('the help has every command of the guide, and the guide every command and option of the help', async () => {
  const { stdout } = await tool('--help');
  const commands = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, command]) => command);
  expect(commands).toContain('status');
  expect([...stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, command]) => command).sort()).toEqual(commands.sort());
  const options = new Set([...stdout.matchAll(/--[a-z-]+/g)].map(([option]) => option));
  expect([...options].filter((option) => !guide.includes(option))).toEqual([]);
});
