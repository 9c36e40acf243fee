import { type Kysely, sql } from 'kysely';
import { runEffect } from 'transition-ownership';
import { expect } from 'vitest';
import { failure, type Proofs } from '../job/proofs.js';
import { postgresStore } from '../job/stores.js';
import type { Tables, Yard } from '../job/yard.js';
import { begin } from './everywhere.js';

/** How a server is asked whether somebody waits for a lock in the database of `rival`, or of its transaction. */
type Ask = (rival: Kysely<Tables>) => Promise<boolean>;

const postgresWaits: Ask = async (rival) => {
  const { rows } =
    await sql`select pid from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(rival);
  return rows.length > 0;
};

/** The report of the engine is never old, as `information_schema.innodb_trx` is when it is asked often. */
const mysqlWaits: Ask = async (rival) => {
  const { rows } = await sql<{ Status: string }>`show engine innodb status`.execute(rival);
  const named = await sql<{ here: string }>`select database() as here`.execute(rival);
  const table = `of table \`${named.rows[0]?.here}\`.\`transition_lease\``;
  return (rows[0]?.Status ?? '')
    .split(/^---TRANSACTION /m)
    .some((transaction) => /^LOCK WAIT /m.test(transaction) && transaction.includes(table));
};

/** Resolves when a statement waits for the transaction of `rival`. */
async function waiting(yard: Yard, rival: Kysely<Tables>): Promise<void> {
  const ask = yard.store === postgresStore ? postgresWaits : mysqlWaits;
  while (!(await ask(rival)));
}

/** What holds while another transaction is about to take the lease, and has not committed yet. */
export const locking: Proofs = {
  'a start waits for a reclaim that is not committed yet, and begins nothing once it is': async (yard) => {
    const { own, lease, outside } = await begin(yard.start('a'));
    const { running } = await yard.outside.transaction().execute(async (rival) => {
      await sql`delete from transition_lease where task_id = 1`.execute(rival);
      const running = Promise.resolve(runEffect(own, lease, outside.merging()));
      void (await Promise.race([waiting(yard, rival), running]));
      return { running };
    });
    expect(await failure(running)).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    expect(outside.applied).toEqual([]);
  },
};
