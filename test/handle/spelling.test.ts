import {
  CamelCasePlugin,
  DeduplicateJoinsPlugin,
  type Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  ParseJSONResultsPlugin,
  sql,
  TableNode,
  WithSchemaPlugin,
} from 'kysely';
import { createTransitionOwnership } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { CallersTable, schemaOf } from '../../src/sql/callers-table.js';
import { databases } from '../sql/compiled.js';

/** A plugin of a caller's own, by what it does to nodes. */
class Rewriting implements KyselyPlugin {
  readonly #transformer: OperationNodeTransformer;
  constructor(transformer: OperationNodeTransformer) {
    this.#transformer = transformer;
  }
  transformQuery({ node, queryId }: Parameters<KyselyPlugin['transformQuery']>[0]) {
    return this.#transformer.transformNode(node, queryId);
  }
  transformResult({ result }: Parameters<KyselyPlugin['transformResult']>[0]) {
    return Promise.resolve(result);
  }
}

/** Puts a letter before each name. */
class Prefixed extends OperationNodeTransformer {
  protected override transformIdentifier(node: Parameters<OperationNodeTransformer['transformIdentifier']>[0]) {
    return { ...node, name: `x_${node.name}` };
  }
}

class SoftDelete extends Rewriting {
  readonly column = 'deleted_at';
}

class WithoutWhere extends OperationNodeTransformer {
  protected override transformUpdateQuery(...given: Parameters<OperationNodeTransformer['transformUpdateQuery']>) {
    const { where: _, ...query } = super.transformUpdateQuery(...given);
    return query;
  }
}

class OnlyActive extends OperationNodeTransformer {
  protected override transformSelectQuery(...given: Parameters<OperationNodeTransformer['transformSelectQuery']>) {
    const query = super.transformSelectQuery(...given);
    return { ...query, limit: { kind: 'LimitNode', limit: sql`1`.toOperationNode() } } as const;
  }
}

class Truthful extends OperationNodeTransformer {
  protected override transformPrimitiveValueList(
    ...given: Parameters<OperationNodeTransformer['transformPrimitiveValueList']>
  ) {
    const list = super.transformPrimitiveValueList(...given);
    return { ...list, values: list.values.map(String) };
  }
}

/** Another name for a table that is read than for one that is written. */
class ReadsAView extends OperationNodeTransformer {
  protected override transformSelectQuery(...given: Parameters<OperationNodeTransformer['transformSelectQuery']>) {
    const query = super.transformSelectQuery(...given);
    return { ...query, from: { kind: 'FromNode', froms: [TableNode.create('active_tasks')] } } as const;
  }
}

class NoDeletes extends OperationNodeTransformer {
  protected override transformDeleteQuery(): never {
    throw new Error('nothing is ever deleted');
  }
}

describe.each(databases)('a handle to $name', (_dialect, db) => {
  const spelled = (handle: Kysely<object>, table = 'tasks', columns = ['id', 'taskStage']) => {
    const callers = new CallersTable(handle, table, columns);
    return { ...callers.named, columns: columns.map((name) => callers.spelled(name)) };
  };

  test('without plugins spells names as they are given: a dot parts schema and table', () => {
    expect(spelled(db)).toEqual({ schema: undefined, table: 'tasks', columns: ['id', 'taskStage'] });
    expect(spelled(db, 'a.tasks', ['i.d'])).toEqual({ schema: 'a', table: 'tasks', columns: ['i.d'] });
    expect(schemaOf(db, 'transition_lease')).toBeUndefined();
  });

  test('in a schema: the last of two wins, a dotted table passes over it', () => {
    const handle = db.withSchema('a').withSchema('b');
    expect(spelled(handle)).toEqual({ schema: 'b', table: 'tasks', columns: ['id', 'taskStage'] });
    expect(spelled(handle, 'c.tasks')).toMatchObject({ schema: 'c', table: 'tasks' });
    expect(schemaOf(handle, 'transition_lease')).toBe('b');
  });

  test('with plugins of Kysely: the schema’s own name is renamed too', () => {
    const handle = db.withPlugin(new CamelCasePlugin()).withSchema('tenantOne');
    expect(spelled(handle, 'fileTasks')).toEqual({
      schema: 'tenant_one',
      table: 'file_tasks',
      columns: ['id', 'task_stage'],
    });
    expect(spelled(db.withPlugin(new ParseJSONResultsPlugin()).withPlugin(new DeduplicateJoinsPlugin()))).toEqual(
      spelled(db),
    );
  });

  test('with a renaming plugin of the caller’s own, a column that is not mapped among them', () => {
    const handle = db.withPlugin(new Rewriting(new Prefixed()));
    expect(spelled(handle)).toEqual({ schema: undefined, table: 'x_tasks', columns: ['x_id', 'x_taskStage'] });
    const callers = new CallersTable(handle, 'tasks', ['id']);
    expect([callers.spelled('note'), callers.spelled('note')]).toEqual(['x_note', 'x_note']);
    const condition = callers.expression(sql<boolean>`${sql.ref('kind')} = 'deploy'`);
    expect(sql`${condition}`.compile(db).sql).toMatch(/^.x_kind. = 'deploy'$/);
  });

  test.each([
    [
      'drops a condition',
      new SoftDelete(new WithoutWhere()),
      /^the plugin SoftDelete of db changes more than names in UPDATE of "tasks", /,
    ],
    [
      'adds to a query',
      new Rewriting(new OnlyActive()),
      /^the plugin Rewriting of db changes more than names in SELECT of "tasks", /,
    ],
    [
      'changes values',
      new Rewriting(new Truthful()),
      /^the plugin Rewriting of db changes more than names in INSERT of "tasks", /,
    ],
    [
      'refuses',
      new Rewriting(new NoDeletes()),
      /^the plugin Rewriting of db refuses DELETE of "tasks": nothing is ever deleted; /,
    ],
    [
      'reads elsewhere than it writes',
      new Rewriting(new ReadsAView()),
      /^db spells the names of "tasks" in two ways: /,
    ],
  ] as [string, KyselyPlugin, RegExp][])(
    'with a plugin that %s is refused at construction, by name',
    (_, plugin, sentence) => {
      const mapped = { table: 'tasks', id: 'id', stage: 'taskStage' } as never;
      for (const handle of [db.withPlugin(plugin), db.withPlugin(new CamelCasePlugin()).withPlugin(plugin)]) {
        let thrown: unknown;
        try {
          createTransitionOwnership({ db: handle, tasks: mapped });
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toBeInstanceOf(TypeError);
        expect((thrown as Error).message).toMatch(sentence);
      }
    },
  );

  test('is refused for the jobs as for the tasks', () => {
    class OnlyJobs extends WithoutWhere {
      protected override transformUpdateQuery(...given: Parameters<OperationNodeTransformer['transformUpdateQuery']>) {
        return JSON.stringify(given[0].table).includes('"jobs"') ? super.transformUpdateQuery(...given) : given[0];
      }
    }
    const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as never;
    const columns = { id: 'id', taskId: 'task', status: 'status', runId: 'run', pid: 'pid', startedAt: 'started' };
    const statuses = { queued: 'queued', running: 'running', failed: 'failed' };
    const handle = db.withPlugin(new Rewriting(new OnlyJobs()));
    expect(() => createTransitionOwnership({ db: handle, tasks })).not.toThrow();
    const jobs = { table: 'jobs', ...columns, statuses } as never;
    expect(() => createTransitionOwnership({ db: handle, tasks, jobs })).toThrow(/in UPDATE of "jobs"/);
  });
});

test('a schema of the handle reaches the lease table and the journal of effects', () => {
  for (const [, db] of databases) {
    const handle = db.withPlugin(new WithSchemaPlugin('a'));
    const tasks = { table: 'a.transition_lease', id: 'id', stage: 'stage' } as never;
    expect(() => createTransitionOwnership({ db: handle, tasks })).toThrow(
      'lease.table must not be tasks.table, got "a.transition_lease" and "a.transition_lease"',
    );
  }
});
