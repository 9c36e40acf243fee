import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { type Child, start } from './children.js';
import { type Look, newFile, newPath } from './file.js';
import { testIf } from './permitted.js';

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' };
const move = { taskId: 1, expected: 'deploy', next: 'done' };

/** What a run of the orchestrator commits, one verb after the other. */
const verbs: readonly ((child: Child) => Promise<unknown>)[] = [
  (child) => child.call('acquire', request),
  (child) => child.call('write', { ...move, note: 'n'.repeat(20_000) }),
  (child) => child.call('release', { taskId: 1 }),
  (child) => child.call('acquire', { ...request, taskId: 2 }),
  (child) => child.call('acquire', { ...request, taskId: 3 }),
  (child) => child.call('write', { ...move, taskId: 2, release: true }),
  (child) => child.call('reclaim', {}),
  (child) => child.call('write', { ...move, taskId: 3, release: true, note: 'n'.repeat(20_000) }),
];

const everything = `select
  (select json_group_array(json_array(id, stage, count, length(note))) from tasks) as tasks,
  (select json_group_array(json_array(task_id, claim, fencing_token)) from transition_lease) as leases,
  (select json_group_array(json_array(task, was, is_now)) from account) as account,
  (select json_group_array(json_array(name, seq)) from sqlite_sequence) as tokens`;

interface Acknowledged {
  readonly walBytes: number;
  readonly state: unknown;
}

/** Runs all verbs, and notes after each acknowledgement how long the log was and what the file said. */
async function run(file: Look, child: Child): Promise<Acknowledged[]> {
  await child.call('schema');
  file.run('pragma wal_checkpoint(truncate)');
  const acknowledged: Acknowledged[] = [];
  const note = () => {
    const walBytes = readFileSync(`${file.path}-wal`).length;
    acknowledged.push({ walBytes, state: file.rows(everything) });
  };
  note();
  for (const verb of verbs) {
    expect(await verb(child)).toHaveProperty('ok');
    note();
  }
  return acknowledged;
}

/** What a machine finds that lost its power with so much of the log on its disk. */
function afterCut(main: Buffer, wal: Buffer, path: string): { integrity: unknown; state: unknown } {
  writeFileSync(path, main);
  writeFileSync(`${path}-wal`, wal);
  const database = new Database(path);
  const found = {
    integrity: database.pragma('integrity_check', { simple: true }),
    state: database.prepare(everything).all(),
  };
  database.close();
  return found;
}

describe('a power cut', () => {
  test('leaves a whole prefix of the commits, wherever in the log it falls, and all that were on the disk', async () => {
    const file = newFile(3);
    const child = start({ file: file.path });
    const acknowledged = await run(file, child);
    const [main, wal] = [readFileSync(file.path), readFileSync(`${file.path}-wal`)];
    const cuts = new Set(acknowledged.flatMap(({ walBytes }) => [walBytes - 1, walBytes]));
    for (let cut = 0; cut <= wal.length; cut += 512) cuts.add(cut);
    cuts.delete(-1);
    const path = newPath();
    const found = new Set<string>();
    for (const cut of cuts) {
      const { integrity, state } = afterCut(main, wal.subarray(0, cut), path);
      const last = acknowledged.filter(({ walBytes }) => walBytes <= cut).at(-1);
      expect({ cut, integrity, state }).toEqual({ cut, integrity: 'ok', state: last?.state });
      found.add(JSON.stringify(state));
    }
    // Seven verbs commit; the reclaim of nothing does not.
    expect(found.size).toBe(8);
  });

  test('openSqlite: every connection syncs each commit, the first and all that find the file there', async () => {
    const file = newFile();
    const children = [1, 2].map(() => start({ file: file.path }));
    for (const child of children) {
      expect(await child.call('query', { text: 'pragma synchronous' })).toEqual([{ synchronous: 2 }]);
    }
    const normal = start({ file: file.path, synchronous: 'normal' });
    expect(await normal.call('query', { text: 'pragma synchronous' })).toEqual([{ synchronous: 1 }]);
  });

  test('a driver left to itself syncs no commit on a file that is there: why openSqlite asks for it', () => {
    const left = new Database(newFile().path);
    expect(left.pragma('synchronous', { simple: true })).toBe(1);
    left.close();
  });

  const mayTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

  /** How often the log was synced before each acknowledgement. */
  async function syncsPerVerb(synchronous: 'full' | 'normal'): Promise<number[]> {
    const file = newFile(3);
    const trace = newPath();
    const under = ['strace', '-f', '-y', '-s', '64', '-e', 'trace=fdatasync,fsync,write', '-o', trace];
    const child = start({ file: file.path, synchronous }, { under });
    await run(file, child);
    await child.call('identity');
    const lines = readFileSync(trace, 'utf8').split('\n');
    const answers = lines.flatMap((line, at) => (/write\(1<.*\{\\"id\\":\d+,\\"answer/.test(line) ? [at] : []));
    const syncs = answers.map((at, index) => {
      const since = lines.slice(index === 0 ? 0 : answers[index - 1], at);
      return since.filter((line) => /f(?:data)?sync\(.*-wal>/.test(line)).length;
    });
    return syncs.slice(1, 1 + verbs.length);
  }

  const testTraced = testIf(mayTrace, 'system calls cannot be traced here');
  testTraced('openSqlite: no verb is acknowledged before its commit was synced', async () => {
    const syncs = await syncsPerVerb('full');
    expect(syncs.map((count) => Math.min(count, 1))).toEqual([1, 1, 1, 1, 1, 1, 0, 1]);
  });

  testTraced(
    'openSqlite: with synchronous normal verbs are acknowledged before, and a power cut may take them back',
    async () => {
      // Only the head of a log that begins anew is synced.
      expect(await syncsPerVerb('normal')).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
    },
  );
});

test('a fencing token that a restored file issues again does not open the fence to its first owner', async () => {
  const file = newFile();
  const [owner, heir] = [start({ file: file.path }), start({ file: file.path })];
  await owner.call('schema');
  const first = await owner.call('acquire', request);
  // The file is as it was before the acquisition.
  file.run(`delete from transition_lease; delete from sqlite_sequence where name = 'transition_lease'`);
  const second = await heir.call('acquire', request);
  if (!('ok' in first && 'ok' in second)) throw new Error('both were granted');
  expect(second.ok.fencingToken).toBe(first.ok.fencingToken);
  expect(await owner.call('write', move)).toMatchObject({ err: { type: 'lease-lost', reason: 'superseded' } });
  expect(await owner.call('release', { taskId: 1 })).toEqual({ ok: 'superseded' });
  expect(file.account()).toEqual([]);
  expect(file.leases()).toHaveLength(1);
});
