import Database from 'better-sqlite3';
import { DummyDriver, Kysely, SqliteAdapter, SqliteDialect, SqliteQueryCompiler, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Gate, gatedDialect } from '../../src/testing/store/gated-dialect.js';

const sqlite = () => new SqliteDialect({ database: new Database(':memory:') });

const recording = () => {
  const seen: string[] = [];
  const gate: Gate = {
    statement(text, _parameters, run) {
      seen.push(text);
      return run();
    },
  };
  return { seen, gate };
};

describe('gatedDialect', () => {
  test('lets every statement, begin and commit pass through the gate, in order', async () => {
    const { seen, gate } = recording();
    const db = new Kysely<never>({ dialect: gatedDialect(sqlite(), gate) });
    await db.transaction().execute((transaction) => sql`select 1 as one`.execute(transaction));
    expect(seen).toEqual(['begin', 'select 1 as one', 'commit']);
  });

  test('rolls back through the gate when the transaction throws', async () => {
    const { seen, gate } = recording();
    const db = new Kysely<never>({ dialect: gatedDialect(sqlite(), gate) });
    const failing = db.transaction().execute(() => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(seen).toEqual(['begin', 'rollback']);
  });

  test('gates savepoints where the driver has them', async () => {
    const { seen, gate } = recording();
    const db = new Kysely<never>({ dialect: gatedDialect(sqlite(), gate) });
    const transaction = await db.startTransaction().execute();
    const inner = await transaction.savepoint('here').execute();
    await (await inner.rollbackToSavepoint('here').execute()).commit().execute();
    expect(seen).toEqual(['begin', 'savepoint here', 'rollback to savepoint here', 'commit']);
  });

  test('shows no savepoint where the driver has none', () => {
    const inner = {
      createDriver: () => Object.assign(new DummyDriver(), { savepoint: undefined }),
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: () => {
        throw new Error('not asked for');
      },
    };
    const driver = gatedDialect(inner, recording().gate).createDriver();
    expect('savepoint' in driver).toBe(false);
  });

  test('can withhold an answer though the statement ran', async () => {
    const database = new Database(':memory:');
    const gate: Gate = { statement: (_text, _parameters, run) => run().then(() => Promise.reject(new Error('lost'))) };
    const db = new Kysely<never>({ dialect: gatedDialect(new SqliteDialect({ database }), gate) });
    await expect(sql`create table t (a)`.execute(db)).rejects.toThrow('lost');
    expect(database.prepare('select count(*) as n from t').get()).toEqual({ n: 0 });
  });

  test('streams through the gate, one chunk at a time', async () => {
    const { seen, gate } = recording();
    const db = new Kysely<{ number: { value: number } }>({ dialect: gatedDialect(sqlite(), gate) });
    await sql`create table number as select 1 as value union select 2`.execute(db);
    const rows: unknown[] = [];
    for await (const row of db.selectFrom('number').selectAll().stream(1)) rows.push(row);
    expect(rows).toEqual([{ value: 1 }, { value: 2 }]);
    expect(seen.slice(1)).toEqual(new Array(3).fill('stream select * from "number"'));
  });
});
