import { sql } from 'kysely';
import type { Dialect } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { leaseStatements } from '../../src/sql/lease-statements.js';
import type { Database } from '../../src/sql/statement.js';
import { acquisitions, databases, jobs, leases, type Statements, schema, stages, survey } from './compiled.js';

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

  test('on tasks and their leases', async () => {
    const text = sideBySide((dialect, database) => acquisitions(dialect, database));
    await expect(text).toMatchFileSnapshot('golden/acquisitions.sql');
  });

  test('on tasks of text ids in hostile columns, and their leases', async () => {
    const text = sideBySide((dialect, database) => acquisitions(dialect, database, 'text', true));
    await expect(text).toMatchFileSnapshot('golden/acquisitions-of-text-ids.sql');
  });

  test('on stages', async () => {
    await expect(sideBySide((dialect, database) => stages(dialect, database))).toMatchFileSnapshot('golden/stages.sql');
  });

  test('on stages of text ids in hostile columns, every name quoted', async () => {
    const text = sideBySide((dialect, database) => stages(dialect, database, 'text', true));
    await expect(text).toMatchFileSnapshot('golden/stages-of-hostile-names.sql');
  });

  test('on jobs', async () => {
    await expect(sideBySide((dialect, database) => jobs(dialect, database))).toMatchFileSnapshot('golden/jobs.sql');
  });

  test('on jobs of text ids in hostile columns, every name quoted', async () => {
    const text = sideBySide((dialect, database) => jobs(dialect, database, 'text', true));
    await expect(text).toMatchFileSnapshot('golden/jobs-of-hostile-names.sql');
  });

  test('on the schema', async () => {
    await expect(sideBySide(schema)).toMatchFileSnapshot('golden/schema.sql');
  });

  test('of the survey', async () => {
    await expect(sideBySide(survey)).toMatchFileSnapshot('golden/survey.sql');
  });
});

test.each(databases)(
  'no statement of $name compares a time that is text: all go by the integers beside it',
  (dialect, database) => {
    for (const { sql: text } of Object.values(leases(dialect, database)).flat())
      expect(text).not.toContain('acquired_at');
  },
);

test('the survey opens no relation but those that it is about: another may be dropped at that moment, and it would raise', () => {
  for (const [dialect, database] of databases)
    for (const { sql: text } of Object.values(survey(dialect, database)).flat())
      expect(text).not.toMatch(/pg_sequences|pg_table_is_visible|to_regclass|::regclass/);
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
