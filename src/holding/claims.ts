import type { ClaimEntry, ClaimRegistry } from '../port/claim-registry.js';

/**
 * The claims of this process, as one ownership enters and asks them.
 *
 * A claim is made once, so it alone is the key: a table has several spellings, with its schema or without, and in
 * more than one case. Version 0.1.0 of this package, which may be loaded beside, knows a claim by
 * `schema.table/claim`: so each entry is there under both keys, and found under either.
 */
export class Claims {
  readonly #registry: ClaimRegistry;
  readonly #scope: string;

  constructor(
    registry: ClaimRegistry,
    { schema, table }: { readonly schema: string | undefined; readonly table: string },
  ) {
    this.#registry = registry;
    this.#scope = `${schema ?? ''}.${table}`;
  }

  /** Enters a claim: a row that carries it is in use. */
  enter(claim: string, entry: ClaimEntry): void {
    this.#registry.set(claim, entry);
    this.#registry.set(this.#earlierKey(claim), entry);
  }

  /** Takes a claim out: a row that carries it is an orphan's from now on. */
  leave(claim: string): void {
    this.#registry.delete(claim);
    this.#registry.delete(this.#earlierKey(claim));
  }

  /** What is known of a claim; `undefined` for one that this process does not use. */
  find(claim: string): ClaimEntry | undefined {
    return this.#registry.get(claim) ?? this.#registry.get(this.#earlierKey(claim));
  }

  #earlierKey(claim: string): string {
    return `${this.#scope}/${claim}`;
  }
}
