import {
  BinaryOperationNode,
  ColumnNode,
  ColumnUpdateNode,
  createQueryId,
  DeleteQueryNode,
  InsertQueryNode,
  type KyselyPlugin,
  type OperationNode,
  OperatorNode,
  PrimitiveValueListNode,
  QueryNode,
  ReferenceNode,
  type RootOperationNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
  ValueNode,
  ValuesNode,
} from 'kysely';
import { reasonOf } from '../core/fail.js';
import { inspectValue } from '../core/inspect-value.js';
import { invariant } from '../core/invariant.js';
import type { NamedTable } from '../dialect/dialect.js';

/** Names as a handle writes them: a table, and columns by the names that the caller gave. */
export interface Spelled {
  readonly table: NamedTable;
  readonly columns: ReadonlyMap<string, string>;
}

/** A table as it stands in the types of the caller's Kysely: a dot parts schema and table. */
function tableNode(given: string): TableNode {
  const [schema, table] = given.split('.').map((part) => part.trim());
  return schema === undefined || table === undefined
    ? TableNode.create(given)
    : TableNode.createWithSchema(schema, table);
}

const reference = (name: string): ReferenceNode => ReferenceNode.create(ColumnNode.create(name));

/** Ids and stages are numbers and texts. */
const value = (_name: string, at: number): unknown => (at % 2 === 0 ? 1 : 'a');

/** A statement of each kind that a caller's own Kysely could send on a table; none of them is ever sent. */
function probesOf(table: TableNode, columns: readonly string[]): Readonly<Record<string, RootOperationNode>> {
  const matching = <Q extends SelectQueryNode | UpdateQueryNode | DeleteQueryNode>(query: Q): Q =>
    columns.reduce<Q>((node, name, at) => {
      const equal = OperatorNode.create('=');
      const condition = BinaryOperationNode.create(reference(name), equal, ValueNode.create(value(name, at)));
      return QueryNode.cloneWithWhere(node, condition);
    }, query);
  const selections = columns.map((name) => SelectionNode.create(reference(name)));
  const updates = columns.map((name, at) =>
    ColumnUpdateNode.create(ColumnNode.create(name), ValueNode.create(value(name, at))),
  );
  return {
    SELECT: matching(SelectQueryNode.cloneWithSelections(SelectQueryNode.createFrom([table]), selections)),
    INSERT: InsertQueryNode.cloneWith(InsertQueryNode.create(table), {
      columns: columns.map((name) => ColumnNode.create(name)),
      values: ValuesNode.create([PrimitiveValueListNode.create(columns.map(value))]),
    }),
    UPDATE: matching(UpdateQueryNode.cloneWithUpdates(UpdateQueryNode.create([table]), updates)),
    DELETE: matching(DeleteQueryNode.create([table])),
  };
}

/** The caller's query that reads rows of a table: plugins know a result by the query that they saw before. */
export function readingRows(given: string, columns: readonly string[]): RootOperationNode {
  return probesOf(tableNode(given), columns)['SELECT'] as RootOperationNode;
}

/**
 * How the plugins of a handle spell a table and its columns: read from the nodes that they make of probes, not from
 * text, and without a statement that is sent.
 *
 * Throws `TypeError` for a plugin that changes more than names: a condition that it adds or takes away would be
 * missing from the library's statements in silence.
 */
export function spelledBy(plugins: readonly KyselyPlugin[], given: string, columns: readonly string[]): Spelled {
  const names = new Names();
  for (const [verb, before] of Object.entries(probesOf(tableNode(given), columns))) {
    const after = plugins.reduce((query, plugin) => passed(plugin, query, `${verb} of ${inspectValue(given)}`), before);
    if (!isAlike(before, after, names))
      throw new TypeError(
        `db spells the names of ${inspectValue(given)} in two ways: the library needs one spelling for every statement`,
      );
  }
  return names.read();
}

/** What one plugin makes of a query; throws for a plugin that changes more of it than names. */
function passed(plugin: KyselyPlugin, query: RootOperationNode, what: string): RootOperationNode {
  const name = plugin.constructor.name;
  const instead = 'give the library a handle without it';
  let after: RootOperationNode;
  try {
    after = plugin.transformQuery({ node: query, queryId: createQueryId() });
  } catch (cause) {
    throw new TypeError(`the plugin ${name} of db refuses ${what}: ${reasonOf(cause)}; ${instead}`, { cause });
  }
  if (isAlike(query, after, new Names())) return after;
  throw new TypeError(
    `the plugin ${name} of db changes more than names in ${what}, which the library's own statements would not have: ${instead}`,
  );
}

/** The names that were met on the way through two queries. */
class Names {
  #table: NamedTable | undefined;
  readonly #columns = new Map<string, string>();

  /** Takes down the spelling of the table; false if it had another. */
  table({ table: { schema, identifier } }: TableNode): boolean {
    this.#table ??= Object.freeze({ schema: schema?.name, table: identifier.name });
    return this.#table.schema === schema?.name && this.#table.table === identifier.name;
  }

  /** Takes down the spelling of a column; false if it had another. */
  column(before: ColumnNode, after: ColumnNode): boolean {
    const { name } = before.column;
    const spelled = this.#columns.get(name) ?? after.column.name;
    this.#columns.set(name, spelled);
    return spelled === after.column.name;
  }

  read(): Spelled {
    invariant(this.#table !== undefined, 'each probe names its table');
    return { table: this.#table, columns: this.#columns };
  }
}

/** True of two queries that differ in the names of one table and of its columns alone. */
function isAlike(before: unknown, after: unknown, names: Names): boolean {
  if (Array.isArray(before)) {
    const others: readonly unknown[] = Array.isArray(after) ? after : [];
    return before.length === others.length && before.every((part, at) => isAlike(part, others[at], names));
  }
  if (!isNode(before) || !isNode(after)) return Object.is(before, after);
  if (TableNode.is(before)) return TableNode.is(after) && names.table(after);
  if (ColumnNode.is(before)) return ColumnNode.is(after) && names.column(before, after);
  const parts = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...parts].every((part) => isAlike(Reflect.get(before, part), Reflect.get(after, part), names));
}

function isNode(value: unknown): value is OperationNode {
  return typeof value === 'object' && value !== null;
}
