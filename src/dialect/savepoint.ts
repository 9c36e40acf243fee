import { sql } from 'kysely';
import type { Dialect } from './dialect.js';

const NAME = sql.id('transition_ownership');

/** Spelled alike by every database. */
export const SAVEPOINT: Dialect['savepoint'] = Object.freeze({
  set: sql`savepoint ${NAME}`,
  undo: sql`rollback to savepoint ${NAME}`,
  keep: sql`release savepoint ${NAME}`,
});
