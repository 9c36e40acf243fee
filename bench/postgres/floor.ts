import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Contender } from '../race.js';
import { Tour } from '../tour.js';

const NOW_MS = `cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;

/** The three statements of a transition, written by hand: what the library sends, and nothing else. */
export const WRITTEN = [
  `insert into transition_lease (claim, task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, run_id,
    stage, ttl_ms, acquired_ms, expires_ms, deadline_ms)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock.now_ms,
      clock.now_ms + least(($11)::bigint, ($12)::bigint), clock.now_ms + $13
    from (select ${NOW_MS} as now_ms) as clock
    on conflict (task_id) do nothing returning fencing_token, claim, acquired_ms, expires_ms, deadline_ms`,
  `update tasks set stage = $1, updated_at = to_timestamp((${NOW_MS})::double precision / 1000)
    where id = $2 and (stage)::text collate "C" is not distinct from ($3)::text collate "C"
    and exists (select 1 from transition_lease where task_id = $4 and claim = $5 for key share)
    returning (stage)::text as stage`,
  `delete from transition_lease where task_id = $1 and claim = $2 returning fencing_token`,
] as const;

/**
 * The floor: the statements of a transition through pg alone. Sent as text they are what Kysely's dialect can
 * send; as named statements they are prepared once, which it cannot.
 */
export function floor(name: string, client: pg.Client, how: 'text' | 'named'): Contender {
  const [insert, write, release] = WRITTEN.map((text, at) =>
    how === 'named' ? { name: `floor-${at}`, text } : { text },
  );
  if (!insert || !write || !release) throw new Error('a transition has three statements');
  const tour = new Tour();
  const bootId = randomUUID();
  const host = `${randomUUID()}/pid:[4026531836]/orchestrator`;
  const [ttlMs, maxHoldMs] = [30_000, 3_600_000];
  const send = async (query: pg.QueryConfig, values: unknown[]): Promise<void> => {
    const { rowCount } = await client.query({ ...query, values });
    if (rowCount !== 1) throw new Error('the floor lost a row');
  };
  return {
    name,
    run: async (times) => {
      for (let time = 0; time < times; time += 1) {
        const { taskId, from, to } = tour.next();
        const claim = randomUUID();
        const owner = ['monitor', process.pid, bootId, host, '1234567', null];
        await send(insert, [claim, taskId, ...owner, from, ttlMs, ttlMs, maxHoldMs, maxHoldMs]);
        await send(write, [to, taskId, from, taskId, claim]);
        await send(release, [taskId, claim]);
      }
    },
  };
}
