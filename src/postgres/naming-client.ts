import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { NamedStatements } from './named-statements.js';

/** A statement with a name, as a client of `pg` takes it. */
interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A client of `pg` beyond what Kysely uses of it. */
interface PreparingClient extends PostgresPoolClient {
  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(query: NamedQuery): Promise<PostgresQueryResult<R>>;
}

/** Stands before a client of the pool, and sends by name what has one. */
export class NamingClient implements PostgresPoolClient {
  readonly #client: PreparingClient;
  readonly #statements: NamedStatements;
  /** Counts the times that this session was found to keep statements of another schema. */
  #generation = 0;

  constructor(client: PostgresPoolClient, statements: NamedStatements) {
    this.#client = client as PreparingClient; // one of `pg`, as the option says
    this.#statements = statements;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    asked: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof asked !== 'string') return this.#client.query(asked);
    const name = this.#statements.nameOf(asked);
    return name === undefined
      ? this.#client.query<R>(asked, parameters)
      : this.#named<R>({ name, text: asked, values: parameters });
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy);
  }

  async #named<R>({ name, text, values }: NamedQuery): Promise<PostgresQueryResult<R>> {
    const generation = this.#generation;
    try {
      return await this.#client.query<R>({ name: generation === 0 ? name : `${name}_${generation}`, text, values });
    } catch (cause) {
      const code = codeOf(cause);
      if (isPlanOfAnotherSchema(code, cause)) this.#generation = Math.max(this.#generation, generation + 1);
      else if (isLost(code)) this.#statements.giveUp();
      else throw cause;
      // Neither began to do anything. In a transaction nothing can be sent again, and what went wrong first counts.
      return this.#client.query<R>(text, values).catch((again: unknown) => {
        throw codeOf(again) === IN_FAILED_TRANSACTION ? cause : again;
      });
    }
  }
}

const IN_FAILED_TRANSACTION = '25P02';

/** A migration has changed what the statement gives. */
function isPlanOfAnotherSchema(code: unknown, cause: unknown): boolean {
  return code === '0A000' && cause instanceof Error && /cached plan/.test(cause.message);
}

/** The session does not know the name, or knows it from another client: a pooler stands between. */
function isLost(code: unknown): boolean {
  return code === '26000' || code === '42P05';
}

function codeOf(cause: unknown): unknown {
  return (cause as { readonly code?: unknown } | null)?.code;
}
