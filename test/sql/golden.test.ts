import {
  DummyDriver,
  Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { type Dialect, type IdType, mysqlDialect, postgresDialect, sqliteDialect } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { leaseStatements } from '../../src/sql/lease-statements.js';
import { createTable, type OwnTable, readColumns, rebuildTable } from '../../src/sql/schema-statements.js';
import type { Database } from '../../src/sql/statement.js';
import { callersTable, column, LEASE_ALWAYS, leaseBackfill, leaseTable, tableName } from '../../src/sql/tables.js';
import { taskStatements } from '../../src/sql/task-statements.js';

/** The three databases, none of them there: statements are compiled and never sent. */
const databases: readonly (readonly [Dialect, Database])[] = [
  [
    sqliteDialect,
    new Kysely<object>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    }),
  ],
  [
    postgresDialect,
    new Kysely<object>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    }),
  ],
  [
    mysqlDialect,
    new Kysely<object>({
      dialect: {
        createAdapter: () => new MysqlAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new MysqlIntrospector(db),
        createQueryCompiler: () => new MysqlQueryCompiler(),
      },
    }),
  ],
];

interface Compiled {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}
type Statements = Readonly<Record<string, readonly Compiled[]>>;

const named: Pick<OwnTable, 'schema' | 'table'> = {
  schema: undefined,
  table: 'transition_lease',
};

/** Each parameter is its own name, so that one which is laid in the wrong place shows. */
const parameters = new Proxy({}, { get: (_, name) => String(name) });

function leases(dialect: Dialect, database: Database, idType: IdType = 'integer'): Statements {
  const lease = tableName(named.schema, named.table);
  const statements = leaseStatements(database, dialect, { lease, taskIdType: idType, runIdType: idType });
  return Object.fromEntries(
    Object.entries(statements).map(([name, statement]) => [name, [statement(parameters as never)]]),
  );
}

function stages(dialect: Dialect, database: Database, idType: IdType = 'integer', hostile = false): Statements {
  const statements = taskStatements(database, dialect, {
    tasks: callersTable(hostile ? 'order "x" `y`' : 'tasks'),
    id: column(hostile ? 'i"d`' : 'id'),
    stage: column(hostile ? 'sta"ge`; --' : 'stage'),
    updatedAt: hostile ? 'at"`' : 'updated_at',
    idType,
    lease: tableName(named.schema, named.table),
    timeFormat: dialect.timeFormat,
  });
  const given = { taskId: 'taskId', expected: 'expected', next: 'next', claim: 'claim' };
  const set = hostile ? { 'no"te`': 'x' } : { note: 'note' };
  return {
    fenced: [statements.write('fenced', given, set)],
    free: [statements.write('free', given, {})],
    expected: [statements.write('expected', given, {})],
    none: [statements.write('none', given, {})],
    ...(dialect.fusedRelease && { fencedAndReleased: [statements.writeAndRelease(given, set)] }),
    readStage: [statements.readStage({ taskId: 'taskId' })],
    readLatestStage: [statements.readLatestStage({ taskId: 'taskId' })],
  };
}

function schema(dialect: Dialect, database: Database): Statements {
  const shape = leaseTable('integer', 'integer');
  const table: OwnTable = { ...named, shape, always: LEASE_ALWAYS, backfill: leaseBackfill(dialect, 30_000) };
  const { schemaLock } = dialect;
  return {
    readColumns: [readColumns(database, dialect, named)],
    lock: schemaLock.enter(named).map((fragment) => fragment.compile(database)),
    create: createTable(database, dialect, table),
    upgrade: rebuildTable(database, dialect, table, new Set(LEASE_ALWAYS)),
    unlock: schemaLock.leave(named).map((fragment) => fragment.compile(database)),
  };
}

/** The statements of all databases, side by side. */
function sideBySide(of: (dialect: Dialect, database: Database) => Statements): string {
  const all = databases.map(([dialect, database]) => [dialect.name, of(dialect, database)] as const);
  const names = [...new Set(all.flatMap(([, statements]) => Object.keys(statements)))];
  return names
    .map((name) => {
      const blocks = all.flatMap(([dialect, statements]) =>
        (statements[name] ?? []).map(({ sql: text, parameters: given }) => {
          const listed = given.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ');
          return `-- ${dialect}${listed === '' ? '' : `: ${listed}`}\n${text.replaceAll(/\s+/g, ' ').trim()};`;
        }),
      );
      return `-- ${name}\n\n${blocks.join('\n\n')}\n`;
    })
    .join('\n\n');
}

describe('the statements, three databases side by side', () => {
  test('on leases', async () => {
    await expect(sideBySide((dialect, database) => leases(dialect, database))).toMatchFileSnapshot('golden/leases.sql');
  });

  test('on leases of text ids', async () => {
    const text = sideBySide((dialect, database) => {
      const { readHolder, readHolders, insertMany } = leases(dialect, database, 'text');
      return { readHolder: readHolder ?? [], readHolders: readHolders ?? [], insertMany: insertMany ?? [] };
    });
    await expect(text).toMatchFileSnapshot('golden/leases-of-text-ids.sql');
  });

  test('on stages', async () => {
    await expect(sideBySide((dialect, database) => stages(dialect, database))).toMatchFileSnapshot('golden/stages.sql');
  });

  test('on stages of text ids in hostile columns, every name quoted', async () => {
    const text = sideBySide((dialect, database) => stages(dialect, database, 'text', true));
    await expect(text).toMatchFileSnapshot('golden/stages-of-hostile-names.sql');
  });

  test('on the schema', async () => {
    await expect(sideBySide(schema)).toMatchFileSnapshot('golden/schema.sql');
  });
});

describe('every parameter', () => {
  test.each(databases)('of $name is bound, and none is spelled into the text', (dialect, database) => {
    for (const statements of [leases(dialect, database), stages(dialect, database)])
      for (const { sql: text, parameters: given } of Object.values(statements).flat()) {
        const places = text.match(/\?|\$\d+/g) ?? [];
        expect(places.length).toBe(given.length);
        expect(given.every((value) => typeof value === 'string')).toBe(true);
      }
  });

  test('is laid anew at each run of a statement that was compiled once', () => {
    for (const [dialect, database] of databases) {
      const { release } = leaseStatements(database, dialect, {
        lease: sql.id('transition_lease'),
        taskIdType: 'integer',
        runIdType: 'integer',
      });
      const [first, second] = [release({ taskId: 1, claim: 'a' }), release({ taskId: 2, claim: 'b' })];
      expect([first.parameters, second.parameters]).toEqual([
        [1, 'a'],
        [2, 'b'],
      ]);
      expect(second.sql).toBe(first.sql);
    }
  });
});
