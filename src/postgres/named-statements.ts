import { createHash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import { isOwn } from '../sql/own-statement.js';

/** Statements that a server keeps for a session: more than the library has, and a bound for what the caller's expressions make of them. */
const MAX_NAMES = 200;

/** The statements of the library by their text, each with the name under which a server keeps it. */
export class NamedStatements {
  readonly #names = new Map<string, string>();
  #off: boolean;

  constructor({ prepare }: { readonly prepare: boolean }) {
    this.#off = !prepare;
  }

  /** Takes note of a statement of the library's own; those of the caller go as they always went. */
  see(query: CompiledQuery): void {
    if (this.#off || this.#names.has(query.sql) || !isOwn(query) || this.#names.size >= MAX_NAMES) return;
    const hash = createHash('sha256').update(query.sql).digest('hex').slice(0, 24);
    this.#names.set(query.sql, `transition_ownership_${hash}`);
  }

  /** The name of a statement that was seen. */
  nameOf(text: string): string | undefined {
    return this.#off ? undefined : this.#names.get(text);
  }

  /** From now on all go as text: the sessions behind this pool do not keep what they are given. */
  giveUp(): void {
    this.#off = true;
  }
}
