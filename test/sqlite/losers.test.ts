import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { Kysely } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  releaseLease,
  snapshot,
  updateStageCas,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { err, ok } from '../rig/proofs.js';

interface Database {
  tasks: { id: number; stage: 'deploy' | 'done' };
}

/** A file with two tasks, the lease on the first of them held, and an onlooker that knows when anything is committed. */
async function heldTask(table = 'transition_lease') {
  const folder = mkdtempSync(join(tmpdir(), 'transition-ownership-'));
  const file = join(folder, 'orchestrator.sqlite');
  const db = new Kysely<Database>({ dialect: openSqlite(file) });
  await db.schema.createTable('tasks').addColumn('id', 'integer').addColumn('stage', 'text').execute();
  await db
    .insertInto('tasks')
    .values([1, 2].map((id) => ({ id, stage: 'deploy' as const })))
    .execute();
  const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
  const ownership = createTransitionOwnership({ db, tasks, lease: { table } });
  await ok(ensureSchema(ownership));
  const lease = await ok(acquireLease(ownership, { taskId: 1, actor: 'monitor' }));
  const onlooker = new BetterSqlite3(file);
  onTestFinished(async () => {
    onlooker.close();
    await db.destroy();
    rmSync(folder, { recursive: true });
  });
  const version = (): unknown => onlooker.pragma('data_version', { simple: true });
  return { ownership, lease, version };
}

describe('on an SQLite file', () => {
  test('who loses commits nothing, and who looks commits nothing', async () => {
    const { ownership, lease, version } = await heldTask();
    const before = version();
    await err(acquireLease(ownership, { taskId: 1, actor: 'reaper' }));
    await ok(acquireLeases(ownership, [{ taskId: 1, actor: 'reaper' }]));
    await err(updateStageCas(ownership, { taskId: 1, expected: 'done', next: 'deploy', lease }));
    await err(updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' }));
    await err(updateStageCas(ownership, { taskId: 2, expected: 'done', next: 'deploy' }));
    await ok(inspectLease(ownership, 1));
    await ok(snapshot(ownership));
    expect(version()).toBe(before);
    expect(await ok(releaseLease(ownership, lease))).toBe('released');
    const after = version();
    expect(after).not.toBe(before);
    expect(await ok(releaseLease(ownership, lease))).toBe('already-released');
    expect(version()).toBe(after);
  });

  test.each(['given', 'each', 'clock', 'taken'])(
    'who asks for a free task gets it from a table called %s',
    async (table) => {
      const { ownership } = await heldTask(table);
      const { acquired, busy } = await ok(
        acquireLeases(
          ownership,
          [1, 2].map((taskId) => ({ taskId, actor: 'reaper' })),
        ),
      );
      expect(acquired).toMatchObject([{ taskId: 2 }]);
      expect(busy).toMatchObject([{ taskId: 1 }]);
    },
  );
});
