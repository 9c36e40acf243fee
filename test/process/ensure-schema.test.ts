import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Setup } from './child/setup.js';
import { type Child, start } from './children.js';
import { firstShape, Look, newPath } from './file.js';

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];
const rounds = 40;

interface Shape {
  readonly found: string;
  readonly prepare: (file: Look) => void;
  readonly change: 'created' | 'upgraded';
  readonly tasks: readonly number[];
}

const shapes: readonly Shape[] = [
  { found: 'no file at all', prepare: () => undefined, change: 'created', tasks: [] },
  {
    found: 'a lease table of the first shape',
    prepare: (file) =>
      file.run(`${firstShape}; insert into transition_lease (task_id, owner) values (7, 'monitor'), (8, 'reaper')`),
    change: 'upgraded',
    tasks: [7, 8],
  },
];

describe('eight processes at once', () => {
  test.each(shapes)(
    `openSqlite and ensureSchema on $found, ${rounds} rounds: one has $change it, nobody fails`,
    async (shape) => {
      const children: Child[] = EIGHT.map(() => start({ file: newPath(), busyTimeoutMs: 0 }));
      await Promise.all(children.map((child) => child.call('identity')));
      for (let round = 1; round <= rounds; round += 1) {
        const path = newPath();
        if (shape.tasks.length > 0) shape.prepare(new Look(path));
        const argument = { file: path, atMs: Date.now() + 3 };
        const answers = await Promise.all(children.map((child) => child.call('schemaOf', argument)));
        const changes = answers.map((answer) => ('ok' in answer ? answer.ok : answer.err));
        expect(changes.filter((change) => change !== 'unchanged')).toEqual([shape.change]);
        const leases = new Look(path).leases() as { task_id: number }[];
        expect(leases.map(({ task_id }) => task_id)).toEqual(shape.tasks);
      }
    },
  );
});

describe('two processes that both saw the first shape, one of them late', () => {
  const parkBefore = 'create table if not exists "transition_lease_replacement"';

  /** The late one goes on when the other has upgraded the table and a third process has acquired in it. */
  async function lateUpgrade(setup: Partial<Setup> = {}): Promise<{ change: unknown; ensured: unknown }> {
    const path = newPath();
    const file = new Look(path);
    shapes[1]?.prepare(file);
    file.run("create table tasks (id integer primary key, stage text); insert into tasks values (1, 'deploy')");
    const [first, late, owner] = [1, 2, 3].map((nth) =>
      start({ file: path, ...(nth < 3 && { parkBefore, ...setup }) }),
    );
    if (first === undefined || late === undefined || owner === undefined) throw new Error('three were started');
    const changes = [first.call('schema'), late.call('schema')] as const;
    await Promise.all([first.said('parked'), late.said('parked')]);
    await first.call('proceed');
    expect(await changes[0]).toBe('upgraded');
    void owner.call('hold', { taskId: 1, actor: 'monitor' }); // It never ends.
    await owner.said('holding');
    await late.call('proceed');
    const change = await changes[1];
    return { change, ensured: await owner.call('ensure', { taskId: 1, ms: 1_000 }) };
  }

  test('ensureSchema: the late one finds it done, and no lease is touched', async () => {
    const { change, ensured } = await lateUpgrade();
    expect(change).toBe('unchanged');
    expect(ensured).toHaveProperty('ok');
  });

  test('outside a transaction the late one rebuilds the table once more, and the owner loses its lease', async () => {
    const mutants = [
      ['begin', 'select 1'],
      ['commit', 'select 1'],
    ] as const;
    const { change, ensured } = await lateUpgrade({ mutants });
    expect(change).toBe('upgraded');
    expect(ensured).toMatchObject({ err: { type: 'lease-lost' } });
  });
});

test('a writer of the first shape fails loudly after the upgrade', async () => {
  const path = newPath();
  const file = new Look(path);
  shapes[1]?.prepare(file);
  expect(await start({ file: path }).call('schema')).toBe('upgraded');
  expect(() => file.run(`insert into transition_lease (task_id, owner) values (9, 'monitor')`)).toThrow('NOT NULL');
});

test('openSqlite: says that the file is busy when somebody is in its way for longer than a second', async () => {
  const path = newPath();
  const inTheWay = new Database(path);
  inTheWay.exec('begin exclusive');
  const child = start({ file: newPath() });
  const asked = performance.now();
  await expect(child.call('schemaOf', { file: path, atMs: 0 })).rejects.toThrow('SQLITE_BUSY');
  expect(performance.now() - asked).toBeGreaterThan(500);
  inTheWay.close();
});
