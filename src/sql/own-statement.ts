import type { CompiledQuery } from 'kysely';

/** The mark of a statement of the library, known to every copy of it in the process. */
const OWN = Symbol.for('transition-ownership.own-statement');

/** A statement of the library's own: its text is one of a few, so a server may keep it prepared. */
export function asOwn(query: CompiledQuery): CompiledQuery {
  return { ...query, [OWN]: true } as CompiledQuery;
}

/** True of a statement of the library's own, and of what was made of one. */
export function isOwn(query: CompiledQuery): boolean {
  return OWN in query;
}
