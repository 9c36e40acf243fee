import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../dialect/dialect.js';
import { asOwn } from './own-statement.js';

/** A handle to the caller's database, without plugins and without its types. */
export type Database = Kysely<object>;

/** The place of a parameter in a statement that is compiled once. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** The condition that what is written is committed; `undefined` where every session commits. */
export function committing(dialect: Pick<Dialect, 'committing'>): RawBuilder<boolean> | undefined {
  return dialect.committing === undefined ? undefined : sql.raw<boolean>(dialect.committing);
}

/** The same at the end of a WHERE. */
export function andCommitting(dialect: Pick<Dialect, 'committing'>): RawBuilder<unknown> {
  const condition = committing(dialect);
  return condition === undefined ? sql`` : sql` and ${condition}`;
}

/** The parameters of a statement as fragments, by name. */
export type Slots<P> = { readonly [Name in keyof P]: RawBuilder<P[Name]> };

/** A statement that takes fresh parameters at every run. */
export type Statement<P> = (parameters: P) => CompiledQuery;

const slots: unknown = new Proxy(Object.freeze({}), { get: (_target, name) => sql`${new Slot(String(name))}` });

/** Compiles a statement at its first use; each run only lays its own parameters into the places. */
export function statement<P extends object>(
  database: Database,
  build: (slots: Slots<P>) => RawBuilder<unknown>,
): Statement<P> {
  let compiled: CompiledQuery | undefined;
  return (parameters) => {
    compiled ??= asOwn(build(slots as Slots<P>).compile(database));
    const values = parameters as Readonly<Record<string, unknown>>;
    return {
      ...compiled,
      parameters: compiled.parameters.map((place) => (place instanceof Slot ? values[place.name] : place)),
    };
  };
}
