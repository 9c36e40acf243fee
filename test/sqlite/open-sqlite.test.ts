import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { CompiledQuery, Kysely } from 'kysely';
import { type OpenSqliteOptions, openSqlite } from 'transition-ownership/sqlite';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { opensAsTold } from './opening.js';

const folder = mkdtempSync(join(tmpdir(), 'transition-ownership-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

function open(options?: OpenSqliteOptions): Kysely<object> {
  files += 1;
  const db = new Kysely<object>({ dialect: openSqlite(join(folder, `${files}.sqlite`), options) });
  onTestFinished(() => db.destroy());
  return db;
}

async function read(db: Kysely<object>, text: string): Promise<unknown> {
  const { rows } = await db.executeQuery<object>(CompiledQuery.raw(text));
  return Object.values(rows[0] ?? {})[0];
}

/** How often the driver was asked to prepare a statement. */
function countPrepared(text: string): () => number {
  const spy = vi.spyOn(BetterSqlite3.prototype, 'prepare');
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.filter(([prepared]) => prepared === text).length;
}

describe('openSqlite', () => {
  opensAsTold({ open, read });

  test('prepares a statement once, however often it runs', async () => {
    const db = open();
    const prepared = countPrepared('select 1');
    for (let time = 0; time < 10; time += 1) expect(await read(db, 'select 1')).toBe(1);
    expect(prepared()).toBe(1);
  });

  test('keeps 500 statements and no more, so that statements with values in their text do not pile up', async () => {
    const db = open();
    const prepared = countPrepared('select 0');
    for (let value = 0; value < 500; value += 1) expect(await read(db, `select ${value}`)).toBe(value);
    await read(db, 'select 0');
    expect(prepared()).toBe(1);
    await read(db, 'select 500');
    await read(db, 'select 0');
    expect(prepared()).toBe(2);
  });

  test.each<[options: object, message: string]>([
    [{ synchronous: 'off' }, 'synchronous must be "full" or "normal", got "off"'],
    [{ busyTimeoutMs: -1 }, 'busyTimeoutMs must be a whole number of milliseconds from 0 to 1000, got -1'],
    [{ busyTimeoutMs: 1_001 }, 'busyTimeoutMs must be a whole number of milliseconds from 0 to 1000, got 1001'],
    [{ busyTimeoutMs: 0.5 }, 'busyTimeoutMs must be a whole number of milliseconds from 0 to 1000, got 0.5'],
  ])('refuses %j before it touches a file', (options, message) => {
    const file = join(folder, 'untouched.sqlite');
    expect(() => openSqlite(file, options)).toThrow(new RangeError(message));
    expect(() => new BetterSqlite3(file, { fileMustExist: true })).toThrow('unable to open database file');
  });

  test.each<[name: string, given: readonly unknown[], error: Error]>([
    ['no file', [], new TypeError('file must be a string, got undefined')],
    ['a file that is no name', [7], new TypeError('file must be a string, got 7')],
    ['an empty name, which would be a file that is gone at the end', [''], new RangeError('file must not be empty')],
    ['options that are null', [':memory:', null], new TypeError('options must be an object, got null')],
    ['options that are text', [':memory:', 'full'], new TypeError('options must be an object, got "full"')],
  ])('openSqlite refuses %s', (_, given, error) => {
    expect(() => (openSqlite as (...given: unknown[]) => unknown)(...given)).toThrow(error);
  });

  test('throws what the driver throws when the file cannot be opened', () => {
    expect(() => openSqlite(join(folder, 'nowhere', 'file.sqlite'))).toThrow('directory does not exist');
  });
});
