import { setImmediate } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import { say, standStill } from './line.js';
import type { Pass } from './passing.js';
import type { GateSetup } from './setup.js';

/** Where the statements of a child are counted, mutated, held up, and where it dies. */
export class Gate {
  /** Statements so far, and those among them that change rows. */
  count = 0;
  writes = 0;
  readonly #setup: GateSetup;
  #standing: RegExp | undefined;
  #proceed: (() => void) | undefined;

  constructor(setup: GateSetup) {
    this.#setup = setup;
    if (setup.standStillAfter !== undefined) this.#standing = new RegExp(setup.standStillAfter);
  }

  readonly pass: Pass = async (query, send) => {
    const { killAt, parkBefore, meetBefore } = this.#setup;
    this.count += 1;
    if (/^\s*(?:insert|update|delete)/.test(query.sql)) this.writes += 1;
    const dying = killAt !== undefined && this.#isAt(killAt.statement, query.sql) ? killAt.when : 'never';
    if (parkBefore !== undefined && new RegExp(parkBefore).test(query.sql)) await this.#park(query.sql);
    if (dying === 'before') die(query.sql);
    if (meetBefore !== undefined && new RegExp(meetBefore.statement).test(query.sql)) {
      for (const text of meetBefore.by) await send(CompiledQuery.raw(text));
    }
    const sent = send(this.#mutated(query));
    if (dying === 'during') {
      sent.catch(() => undefined);
      await setImmediate();
      die(query.sql);
    }
    const answer = await sent;
    if (dying === 'after') die(query.sql);
    if (this.#standing?.test(query.sql) === true) {
      this.#standing = undefined;
      standStill();
    }
    return answer;
  };

  /** Lets the parked statement go on. */
  proceed(): void {
    if (this.#proceed === undefined) throw new Error('no statement is parked');
    this.#proceed();
    this.#proceed = undefined;
  }

  #isAt(statement: number | string, sql: string): boolean {
    return typeof statement === 'number' ? statement === this.count : new RegExp(statement).test(sql);
  }

  #park(sql: string): Promise<void> {
    return new Promise((resolve) => {
      this.#proceed = resolve;
      say({ said: 'parked', sql });
    });
  }

  #mutated(query: CompiledQuery): CompiledQuery {
    const mutants = this.#setup.mutants?.filter(([text]) => query.sql.includes(text)) ?? [];
    if (mutants.length === 0) return query;
    const mutated = mutants.reduce((text, mutant) => text.replace(...mutant), query.sql);
    return CompiledQuery.raw(mutated, [...query.parameters]);
  }
}

function die(sql: string): never {
  say({ said: 'dying', sql });
  process.kill(process.pid, 'SIGKILL');
  for (;;); // The signal arrives before the next statement could be sent.
}
