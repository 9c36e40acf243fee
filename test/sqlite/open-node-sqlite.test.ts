import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, Kysely } from 'kysely';
import { type OpenSqliteOptions, openNodeSqlite } from 'transition-ownership/node-sqlite';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { missingNodeSqlite } from './openers.js';
import { opensAsTold } from './opening.js';

const folder = mkdtempSync(join(tmpdir(), 'transition-ownership-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

function open(options?: OpenSqliteOptions): Kysely<object> {
  files += 1;
  const db = new Kysely<object>({ dialect: openNodeSqlite(join(folder, `${files}.sqlite`), options) });
  onTestFinished(() => db.destroy());
  return db;
}

const run = (db: Pick<Kysely<object>, 'executeQuery'>, text: string) =>
  db.executeQuery<object>(CompiledQuery.raw(text));
const read = async (db: Kysely<object>, text: string): Promise<unknown> =>
  Object.values((await run(db, text)).rows[0] ?? {})[0];

describe.skipIf(missingNodeSqlite !== undefined)('openNodeSqlite', () => {
  opensAsTold({ open, read });

  test('tells rows from changes, and gives both', async () => {
    const db = open();
    await run(db, 'create table item (id integer primary key, value integer)');
    expect(await run(db, 'insert into item (value) values (1), (2)')).toEqual({
      numAffectedRows: 2n,
      insertId: 2n,
      rows: [],
    });
    const great = 'insert into item (id) values (9007199254740993)';
    expect(await run(db, great)).toMatchObject({ insertId: 9007199254740993n });
    await run(db, 'delete from item where value is null');
    expect((await run(db, 'update item set value = value + 1 returning value')).rows).toEqual([
      { value: 2 },
      { value: 3 },
    ]);
  });

  test('streams rows, and runs the same statement afterwards', async () => {
    const db = open() as Kysely<{ item: { id: number } }>;
    await run(db, 'create table item (id integer primary key)');
    await run(db, 'insert into item values (1), (2), (3)');
    const all = () => db.selectFrom('item').select('id').orderBy('id');
    const seen: number[] = [];
    for await (const { id } of all().stream()) seen.push(id);
    expect(await all().execute()).toHaveLength(3);
    expect(seen).toEqual([1, 2, 3]);
  });

  test('throws what node:sqlite throws when the file cannot be opened', () => {
    expect(() => openNodeSqlite(join(folder, 'nowhere', 'file.sqlite'))).toThrow('unable to open database file');
  });
});

describe('openNodeSqlite refuses', () => {
  test.each<[name: string, given: readonly unknown[], error: Error]>([
    ['no file', [], new TypeError('file must be a string, got undefined')],
    ['an empty name', [''], new RangeError('file must not be empty')],
    ['options that are text', [':memory:', 'full'], new TypeError('options must be an object, got "full"')],
    [
      'another speed',
      [join(folder, 'untouched'), { synchronous: 'off' }],
      new RangeError('synchronous must be "full" or "normal", got "off"'),
    ],
  ])('%s', (_, given, error) => {
    expect(() => (openNodeSqlite as (...given: unknown[]) => unknown)(...given)).toThrow(error);
    expect(existsSync(join(folder, 'untouched'))).toBe(false);
  });

  test.each([
    ['no node:sqlite', undefined],
    [
      'one that does not say whether a transaction is open',
      {
        DatabaseSync: class {
          close(): void {}
        },
      },
    ],
  ])('a Node with %s, in one sentence', (_, module) => {
    const builtin = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(module);
    onTestFinished(() => builtin.mockRestore());
    expect(() => openNodeSqlite(join(folder, 'untouched'))).toThrow(
      `openNodeSqlite needs node:sqlite of Node 22.16 or newer, and this is Node ${process.version}: take a newer Node, or openSqlite of transition-ownership/sqlite.`,
    );
  });
});
