import type { CompiledQuery, QueryResult, SqliteDatabase } from 'kysely';
import { sqliteCode } from '../dialect/sqlite-code.js';
import type { TogetherConnection, TogetherOutcome, Unit, UnitOutcome } from '../sql/together.js';

/** Commits after which the database itself says that nothing of the transaction is there. */
const CERTAINLY_NOT_COMMITTED = /^SQLITE_(?:CONSTRAINT|FULL|BUSY|NOMEM)/;

/** A connection that knows whether a transaction is open on it. */
export interface InTransaction {
  readonly inTransaction: boolean;
}

/** Runs writes in one commit on a connection of our own, over its prepared statements. */
export class OneCommit implements TogetherConnection {
  readonly #database: InTransaction;
  readonly #statements: SqliteDatabase;

  constructor(database: InTransaction, statements: SqliteDatabase) {
    this.#database = database;
    this.#statements = statements;
  }

  mayJoin({ sql }: CompiledQuery): boolean {
    return /^\s*(?:insert|update|delete)\b/i.test(sql);
  }

  run(units: readonly Unit[], isOver: () => boolean): TogetherOutcome {
    if (this.#database.inTransaction) return 'elsewhere';
    try {
      this.#do('begin immediate');
    } catch (cause) {
      return units.map(() => failed(cause));
    }
    const outcomes: UnitOutcome[] = [];
    for (const unit of units) {
      if (outcomes.length > 0 && isOver()) break;
      outcomes.push(units.length === 1 ? this.#alone(unit) : this.#among(unit));
      // A trigger, a full disk or a broken constraint may take back more than a statement of its own.
      if (!this.#database.inTransaction) return outcomes.length === 1 ? outcomes : 'taken-back';
    }
    return this.#commit(outcomes);
  }

  #commit(outcomes: readonly UnitOutcome[]): TogetherOutcome {
    try {
      this.#do('commit');
      return outcomes;
    } catch (cause) {
      this.#rollBack();
      if (outcomes.length > 1 && CERTAINLY_NOT_COMMITTED.test(sqliteCode(Object(cause) as object) ?? ''))
        return 'taken-back';
      return outcomes.map((outcome) => (outcome.is === 'done' ? failed(cause, { isCommit: true }) : outcome));
    }
  }

  #alone(unit: Unit): UnitOutcome {
    try {
      return this.#both(unit);
    } catch (cause) {
      this.#rollBack();
      return failed(cause);
    }
  }

  /** What fails is undone, and nothing that others have done. */
  #among(unit: Unit): UnitOutcome {
    const isPair = unit.whereChanged !== undefined;
    try {
      if (isPair) this.#do('savepoint transition_ownership');
      const done = this.#both(unit);
      if (isPair) this.#do('release transition_ownership');
      return done;
    } catch (cause) {
      if (isPair && this.#database.inTransaction) {
        this.#do('rollback to transition_ownership');
        this.#do('release transition_ownership');
      }
      return failed(cause);
    }
  }

  #both({ query, whereChanged }: Unit): UnitOutcome {
    const result = this.#send(query);
    if (whereChanged !== undefined && result.rows.length > 0) this.#send(whereChanged);
    return { is: 'done', result };
  }

  /** As Kysely's own connection does it. */
  #send({ sql, parameters }: CompiledQuery): QueryResult<unknown> {
    const statement = this.#statements.prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) };
    const { changes, lastInsertRowid } = statement.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #do(sql: string): void {
    this.#statements.prepare(sql).run([]);
  }

  #rollBack(): void {
    if (this.#database.inTransaction) this.#do('rollback');
  }
}

function failed(cause: unknown, { isCommit = false } = {}): UnitOutcome {
  return { is: 'failed', cause, isCommit };
}
