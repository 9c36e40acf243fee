import { type CompiledQuery, sql } from 'kysely';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import type { Columns, Part } from './callers-parts.js';
import { type JobColumns, type JobNames, runColumns } from './job-columns.js';
import { type Database, type Slots, type Statement, statement } from './statement.js';

/** What every statement that writes jobs is made with. */
export function jobWriting(database: Database, dialect: Dialect, names: JobNames, columns: JobColumns) {
  const { table, column, now, setStatus } = columns;
  const kept = new Map<string, Statement<Columns>>();
  return {
    /**
     * Compiles a statement with the caller's parts: those of one text once, those without a key, or with
     * the caller's expressions, at every call.
     */
    compiled: (
      key: readonly unknown[] | undefined,
      parts: readonly Part[],
      values: Columns,
      build: (places: Slots<Columns>) => Fragment,
    ): CompiledQuery => {
      const all = Object.assign({}, values, ...parts.map((part) => part.values)) as Columns;
      if (key === undefined || parts.some((part) => part.key === undefined))
        return statement<Columns>(database, build)(all);
      const text = JSON.stringify([...key, ...parts.map((part) => part.key)]);
      const found = kept.get(text) ?? statement<Columns>(database, build);
      kept.set(text, found);
      return found(all);
    },
    /** What an UPDATE returns, where it can. */
    returning: (answered: Fragment): Fragment => (dialect.returning ? sql`returning ${answered}` : sql``),
    /**
     * An UPDATE up to its condition. What the caller sets comes first: on some databases an expression would
     * see what was assigned before it.
     */
    update: (
      places: Slots<Columns>,
      set: Part,
      status: string,
      written: Readonly<Record<string, Fragment>>,
    ): Fragment => {
      const rest = Object.entries(written)
        .filter(([name]) => !set.columns.includes(name))
        .map(([name, value]) => sql`${column(name)} = ${value}`);
      return sql`update ${table} set ${sql.join([...set.fragments(places), setStatus(status), ...rest])}`;
    },
    /** The run ownership, cleared. */
    cleared: Object.fromEntries(runColumns(names).map((name) => [name, sql`null`])),
    /** The end of a run, now. */
    ended: names.finishedAt === undefined ? {} : { [names.finishedAt]: now('finishedAt') },
  };
}

/** What every statement that writes jobs is made with. */
export type JobWriting = ReturnType<typeof jobWriting>;

/** The place of a value, by its name. */
export function place(places: Slots<Columns>, name: string): Fragment {
  return sql`${places[name]}`;
}
