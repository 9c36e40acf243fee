import { CompiledQuery } from 'kysely';
import type { Fragment } from '../dialect/dialect.js';
import type { Session } from './session.js';

/** The statements around one commit. */
export interface Brackets {
  readonly enter: readonly CompiledQuery[];
  readonly leave: readonly CompiledQuery[];
  readonly abandon: readonly CompiledQuery[];
}

/** A transaction of our own. */
export function beginAndEnd({ dialect }: Session): Brackets {
  return {
    enter: [CompiledQuery.raw(dialect.begin)],
    leave: [CompiledQuery.raw('commit')],
    abandon: [CompiledQuery.raw('rollback')],
  };
}

/** A change of the schema, one process at a time; `key` names the table. */
export function schemaBrackets({ database, dialect }: Session, key: string): Brackets {
  const { schemaLock } = dialect;
  const compiled = (fragments: readonly Fragment[]): CompiledQuery[] =>
    fragments.map((fragment) => fragment.compile(database));
  return {
    enter: compiled(schemaLock.enter(key)),
    leave: compiled(schemaLock.leave(key)),
    abandon: compiled(schemaLock.abandon(key)),
  };
}
