import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { killEverywhere, powerLoss } from '../../src/testing/index.js';

const folder = mkdtempSync(join(tmpdir(), 'real-'));
const path = join(folder, 'notes.sqlite');
const tsx = createRequire(import.meta.url).resolve('tsx');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fresh = () => {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
  const database = new Database(path);
  database.exec('create table note (text text)');
  database.close();
};

const notes = (file: string): string[] => {
  const database = new Database(file);
  const texts = database.prepare('select text from note order by rowid').pluck().all() as string[];
  database.close();
  return texts;
};

describe('killEverywhere', () => {
  const module = new URL('children/two-writes.ts', import.meta.url);
  const common = {
    module,
    env: { NOTES: path },
    execArgv: ['--import', tsx],
    prepare: fresh,
    recover: () => undefined,
  };

  test('lets a real process die before and after each of its statements', async () => {
    const left: string[][] = [];
    const report = await killEverywhere({ ...common, check: () => left.push(notes(path)) });
    expect(report).toEqual({ points: 4, failures: [] });
    expect(left).toEqual([[], ['one'], ['one'], ['one', 'two']]);
  }, 60_000);

  test('tells at which statement the check failed', async () => {
    const check = () => {
      if (notes(path).length === 1) throw new Error('half done');
    };
    const { failures } = await killEverywhere({ ...common, when: ['before'], check });
    expect(failures.map(({ statement, when, error }) => [statement, when, error.message])).toEqual([
      [2, 'before', 'half done'],
    ]);
  }, 60_000);
});

describe('powerLoss', () => {
  test('shows every prefix of the commits, and no half of one', async () => {
    fresh();
    const database = new Database(path);
    database.pragma('journal_mode = wal');
    database.pragma('wal_autocheckpoint = 0');
    for (const text of ['one', 'two', 'three']) database.prepare('insert into note values (?)').run(text);
    const seen = new Set<string>();
    const report = await powerLoss(path, (copy) => seen.add(notes(copy).join()));
    database.close();
    expect(report.failures).toEqual([]);
    expect(report.cuts).toBeGreaterThan(10);
    expect([...seen]).toEqual(['', 'one', 'one,two', 'one,two,three']);
  });

  test('tells the lengths at which the check failed', async () => {
    fresh();
    const database = new Database(path);
    database.pragma('journal_mode = wal');
    database.prepare('insert into note values (?)').run('one');
    const { failures, cuts } = await powerLoss(path, (copy) => {
      if (notes(copy).length === 0) throw new Error('gone');
    });
    database.close();
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.length).toBeLessThan(cuts);
    expect(failures[0]).toMatchObject({ length: 0 });
  });
});
