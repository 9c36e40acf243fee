import {
  createQueryId,
  type Expression,
  ExpressionWrapper,
  type Kysely,
  SelectQueryNode,
  sql,
  TableNode,
} from 'kysely';
import type { Fragment, NamedTable } from '../dialect/dialect.js';
import type { Row } from './execute.js';
import { readingRows, spelledBy } from './handle-probes.js';
import { shownTable, tableName } from './tables.js';

/** What spells names: the caller's Kysely, or a transaction, with its plugins. */
export type Handle = Pick<Kysely<object>, 'getExecutor'>;

type Executor = ReturnType<Handle['getExecutor']>;

/** The schema in which a handle looks for a table that is given without one; `undefined` for the database's own. */
export function schemaOf(handle: Handle, table: string): string | undefined {
  const executor = handle.getExecutor();
  if (executor.plugins.length === 0) return undefined;
  const query = executor.transformQuery(readingRows(table, []), createQueryId());
  const from = SelectQueryNode.is(query) ? query.from?.froms[0] : undefined;
  return from !== undefined && TableNode.is(from) ? from.table.schema?.name : undefined;
}

/** True of two handles with the very same plugins: they spell everything alike. */
function haveSamePlugins({ plugins: a }: Executor, { plugins: b }: Executor): boolean {
  return a.length === b.length && a.every((plugin, at) => plugin === b[at]);
}

/**
 * The caller's table, with its names as the caller's handle spells them: in the schema of `withSchema`, in the
 * case of `CamelCasePlugin`.
 *
 * Statements on the table take their fragments from here; their own names and aliases never pass a plugin.
 */
export class CallersTable {
  /** Its name as the caller gave it. */
  readonly given: string;
  /** Its name in the database. */
  readonly named: NamedTable;
  /** The same, quoted. */
  readonly table: Fragment;
  readonly #executor: Executor;
  readonly #mapped: readonly string[];
  readonly #columns: Map<string, string>;

  /** Probes the handle on the mapped columns; throws `TypeError` for a plugin that changes more than names. */
  constructor(handle: Handle, given: string, mapped: readonly string[]) {
    this.given = given;
    this.#executor = handle.getExecutor();
    this.#mapped = mapped;
    const { table, columns } = spelledBy(this.#executor.plugins, given, mapped);
    this.named = table;
    this.table = tableName(table.schema, table.table);
    this.#columns = new Map(columns);
  }

  /** The name of a column in the database; one that is not mapped is probed when it is first met. */
  spelled(column: string): string {
    const { plugins } = this.#executor;
    if (plugins.length === 0) return column;
    const known = this.#columns.get(column);
    if (known !== undefined) return known;
    const spelled = spelledBy(plugins, this.given, [column]).columns.get(column) ?? column;
    this.#columns.set(column, spelled);
    return spelled;
  }

  /** A column, quoted whole, dots and all. */
  column(name: string): Fragment {
    return sql.id(this.spelled(name));
  }

  /** True of two names of one column: some databases take names in capitals for the same. */
  isSameColumn(a: string, b: string): boolean {
    return this.spelled(a).toLowerCase() === this.spelled(b).toLowerCase();
  }

  /** An expression that the caller built, with the names in it as the handle spells them. */
  expression<T>(built: Expression<T>): Expression<T> {
    if (this.#executor.plugins.length === 0) return built;
    return new ExpressionWrapper(this.#executor.transformQuery(sql`${built}`.toOperationNode(), createQueryId()));
  }

  /** Rows as they were read, as the caller's own Kysely would give them. */
  async rows(read: readonly Row[]): Promise<readonly Row[]> {
    const { plugins } = this.#executor;
    if (plugins.length === 0 || read.length === 0) return read;
    const queryId = createQueryId();
    this.#executor.transformQuery(readingRows(this.given, this.#mapped), queryId);
    let result: { rows: Record<string, unknown>[] } = { rows: read.map((row) => ({ ...row })) };
    for (const plugin of plugins) result = await plugin.transformResult({ result, queryId });
    return result.rows;
  }

  /** How another handle spells the table or a mapped column, where it is not as this one does; else `undefined`. */
  otherSpelling(handle: Handle): readonly [here: string, there: string] | undefined {
    if (haveSamePlugins(this.#executor, handle.getExecutor())) return undefined;
    const other = new CallersTable(handle, this.given, this.#mapped);
    const [here, there] = [shownTable(this.named), shownTable(other.named)];
    if (here !== there) return [here, there];
    const column = this.#mapped.find((name) => this.spelled(name) !== other.spelled(name));
    return column === undefined ? undefined : [this.spelled(column), other.spelled(column)];
  }
}
