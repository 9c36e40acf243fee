import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { firstShape, type Look, newFile } from './file.js';
import { isRecovered, wreck } from './wreck.js';

/** What a child is made to do until it dies, and what a fresh process does then. */
interface Scenario {
  readonly title: string;
  readonly setup?: Partial<Setup>;
  readonly prepare: () => Promise<Look>;
  readonly work: (child: Child) => Promise<unknown>;
  readonly recover: (child: Child) => Promise<unknown>;
  /** What must hold right after a kill, whatever the statement was. */
  readonly afterKill: (file: Look) => void;
  readonly atEnd: (file: Look) => void;
  /** Statements that must be among those it died at. */
  readonly writes: readonly RegExp[];
}

async function withSchema(setup: Partial<Setup> = {}): Promise<Look> {
  const file = newFile();
  const child = start({ file: file.path, ...setup });
  await child.call('schema');
  await child.call('destroy');
  return file;
}

async function withDeadOwner(): Promise<Look> {
  const file = await withSchema();
  const owner = start({ file: file.path });
  await owner.call('acquire', { taskId: 1, actor: 'monitor', stage: 'deploy' });
  await owner.kill();
  return file;
}

async function withFirstShape(): Promise<Look> {
  const file = newFile();
  file.run(`${firstShape}; insert into transition_lease (task_id, owner) values (7, 'monitor'), (8, 'reaper')`);
  return file;
}

function doneOnce(file: Look): void {
  expect(file.task()).toEqual({ stage: 'done', count: 1 });
  expect(file.account()).toEqual([{ task: 1, was: 'deploy', is_now: 'done' }]);
  expect(file.effects()).toHaveLength(1);
  expect(file.leases()).toEqual([]);
}

function upgraded(file: Look): void {
  expect(file.leases()).toEqual([
    { task_id: 7, owner: 'monitor', fencing_token: 1 },
    { task_id: 8, owner: 'reaper', fencing_token: 2 },
  ]);
  expect(file.rows(`select name from sqlite_schema where name like 'transition_lease_%'`)).toEqual([]);
}

const LEASED = [/^insert into "transition_lease"/, /^update "tasks"/, /^delete from "transition_lease"/];

const scenarios: readonly Scenario[] = [
  {
    title: 'a transition whose stage write and release are two commits',
    writes: LEASED,
    prepare: () => withSchema(),
    work: (child) => child.call('transition', { taskId: 1 }),
    recover: (child) => child.call('recover', { taskId: 1 }),
    afterKill: () => undefined,
    atEnd: doneOnce,
  },
  {
    title: 'a transition whose stage write and release are one commit',
    writes: [...LEASED, /^commit/],
    prepare: () => withSchema(),
    work: (child) => child.call('transition', { taskId: 1, release: true }),
    recover: (child) => child.call('recover', { taskId: 1, release: true }),
    afterKill: (file) => {
      const done = file.rows(`select 1 from tasks where stage = 'done'`).length;
      if (done === 1) expect(file.leases()).toEqual([]);
    },
    atEnd: doneOnce,
  },
  {
    title: 'a transition over the lease of a dead owner',
    writes: LEASED,
    prepare: withDeadOwner,
    work: (child) => child.call('transition', { taskId: 1 }),
    recover: (child) => child.call('recover', { taskId: 1 }),
    afterKill: () => undefined,
    atEnd: doneOnce,
  },
  {
    title: 'a transition whose effect is journalled',
    writes: [...LEASED, /^insert into "transition_effect"/, /^update "transition_effect"/],
    setup: { journal: true },
    prepare: () => withSchema({ journal: true }),
    work: (child) => child.call('transition', { taskId: 1, effect: 'journalled' }),
    recover: (child) => child.call('recover', { taskId: 1, effect: 'journalled' }),
    afterKill: () => undefined,
    atEnd: (file) => {
      doneOnce(file);
      expect(file.rows('select effect, state from transition_effect')).toEqual([{ effect: 'merge', state: 'applied' }]);
    },
  },
  {
    title: 'the recovery of all that a crash left behind',
    setup: { journal: true },
    prepare: wreck,
    writes: [/^update "jobs"/, /^delete from "transition_lease"/],
    work: (child) => child.call('recoverOnStartup'),
    recover: (child) => child.call('recoverOnStartup'),
    afterKill: () => undefined,
    atEnd: isRecovered,
  },
  {
    title: 'the creation of the schema',
    writes: [/^create table/, /^commit/],
    prepare: async () => newFile(),
    work: (child) => child.call('schema'),
    recover: (child) => child.call('schema'),
    afterKill: () => undefined,
    atEnd: (file) => expect(file.leases()).toEqual([]),
  },
  {
    title: 'the upgrade of a lease table of the first shape',
    writes: [/^insert into/, /^drop table/, /^alter table/, /^commit/],
    prepare: withFirstShape,
    work: (child) => child.call('schema'),
    recover: (child) => child.call('schema'),
    afterKill: (file) => expect(file.rows('select task_id from transition_lease order by 1')).toHaveLength(2),
    atEnd: upgraded,
  },
];

/** Kills the child at every statement in turn, and recovers each time, until the child comes through alive. */
async function killAtEvery(scenario: Scenario, when: 'before' | 'after', prepared: Look): Promise<string[]> {
  const died: string[] = [];
  for (let statement = 1; ; statement += 1) {
    const file = prepared.copy();
    const child = start({ file: file.path, ...scenario.setup, killAt: { statement, when } });
    const survived = await scenario.work(child).then(
      () => true,
      () => false,
    );
    if (survived) {
      scenario.atEnd(file);
      expect(await child.call('statements')).toBe(died.length);
      return died;
    }
    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
    died.push(String((await child.said('dying'))['sql']));
    scenario.afterKill(file);
    const fresh = start({ file: file.path, ...scenario.setup });
    await scenario.recover(fresh);
    await fresh.kill();
    scenario.atEnd(file);
  }
}

describe.each(scenarios)('SIGKILL at every statement of $title', (scenario) => {
  test.each(['before', 'after'] as const)('%s it: a fresh process brings it to the same end', async (when) => {
    const died = await killAtEvery(scenario, when, await scenario.prepare());
    for (const write of scenario.writes) expect(died).toContainEqual(expect.stringMatching(write));
  });
});

test('a counter adds up although one of its four processes is killed again and again, each time further on', async () => {
  const file = await withSchema();
  const workers = [1, 2, 3].map(() => start({ file: file.path }));
  await Promise.all(workers.map((worker) => worker.call('identity')));
  const work = workers.map((worker) => worker.call('toAndFro', { taskId: 1 }));
  for (let statement = 2; statement <= 9; statement += 1) {
    const victim = start({ file: file.path, killAt: { statement, when: 'after' } });
    await expect(victim.call('toAndFro', { taskId: 1 })).rejects.toThrow('SIGKILL');
  }
  await Promise.all(workers.map((worker) => worker.call('enough')));
  const done = await Promise.all(work);
  const moves = done.reduce((sum, worker) => sum + worker.moves, 0);
  expect(new Set(done.flatMap(({ failures }) => failures))).toEqual(new Set(['lease-busy']));
  expect(file.account().length).toBeGreaterThanOrEqual(moves);
  expect(file.task()).toMatchObject({ count: file.account().length });
});

describe('without the guard the same scenario goes wrong', () => {
  test('two commits: a kill between them leaves the task done and owned', async () => {
    const file = await withSchema();
    const child = start({ file: file.path, killAt: { statement: '^update "tasks"', when: 'after' } });
    await expect(child.call('transition', { taskId: 1 })).rejects.toThrow('SIGKILL');
    expect(file.task()).toMatchObject({ stage: 'done' });
    expect(file.leases()).toHaveLength(1);
  });

  test('a recovery that does not ask whether the effect was applied repeats it', async () => {
    const file = await withSchema();
    const child = start({ file: file.path, killAt: { statement: '^update "tasks"', when: 'before' } });
    await expect(child.call('transition', { taskId: 1 })).rejects.toThrow('SIGKILL');
    await start({ file: file.path }).call('recover', { taskId: 1, effect: 'blind' });
    expect(file.effects()).toHaveLength(2);
  });
});
