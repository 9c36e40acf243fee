import type { Dialect } from 'kysely';
import { gatedDialect } from '../store/gated-dialect.js';
import { killVariable } from './kill-everywhere.js';

/**
 * Makes a dialect that ends its process where `killEverywhere` says; elsewhere it changes nothing.
 *
 * @example
 * ```ts
 * import Database from 'better-sqlite3';
 * import { Kysely, SqliteDialect } from 'kysely';
 * import { killable } from 'transition-ownership/testing';
 *
 * const database = new Database(':memory:');
 * const db = new Kysely<{ task: { id: number } }>({ dialect: killable(new SqliteDialect({ database })) });
 * await db.destroy();
 * ```
 */
export function killable(dialect: Dialect): Dialect {
  const [when, number] = (process.env[killVariable] ?? '').split(' ');
  const last = Number(number);
  let statements = 0;
  return gatedDialect(dialect, {
    async statement(_text, _parameters, run) {
      const dies = ++statements === last;
      if (dies && when === 'before') await die();
      const answer = await run();
      if (dies && when === 'after') await die();
      return answer;
    },
  });
}

/** No handler runs, nothing is flushed: the operating system just takes the process away. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => {});
}
