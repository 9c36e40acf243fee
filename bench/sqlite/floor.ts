import { randomUUID } from 'node:crypto';
import type BetterSqlite3 from 'better-sqlite3';
import type { Contender } from '../race.js';
import { Tour } from '../tour.js';

const NOW_MS = `cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer)`;

/** The three statements of a transition, written by hand: what the library sends, and nothing else. */
export const WRITTEN = [
  `insert into transition_lease (claim, task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, run_id,
    stage, ttl_ms, acquired_ms, expires_ms, deadline_ms)
    select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, clock.now_ms, clock.now_ms + min(?, ?), clock.now_ms + ?
    from (select ${NOW_MS} as now_ms) as clock
    where not exists (select 1 from transition_lease as taken where task_id = ?)
    returning fencing_token, claim, acquired_ms, expires_ms, deadline_ms`,
  `update tasks set stage = ?, updated_at = strftime('%Y-%m-%d %H:%M:%f', ${NOW_MS} / 1000.0, 'unixepoch')
    where id = ? and stage is ? collate binary
    and exists (select 1 from transition_lease where task_id = ? and claim = ?) returning stage as stage`,
  `delete from transition_lease where task_id = ? and claim = ? returning fencing_token`,
] as const;

/** The floor: the statements of a transition, prepared once, through better-sqlite3 alone. */
export function floor(name: string, database: BetterSqlite3.Database): Contender {
  const [insert, write, release] = WRITTEN.map((statement) => database.prepare(statement));
  if (!insert || !write || !release) throw new Error('a transition has three statements');
  const tour = new Tour();
  const bootId = randomUUID();
  const host = `${randomUUID()}/pid:[4026531836]/orchestrator`;
  const [ttlMs, maxHoldMs] = [30_000, 3_600_000];
  return {
    name,
    run: (times) => {
      for (let time = 0; time < times; time += 1) {
        const { taskId, from, to } = tour.next();
        const claim = randomUUID();
        const owner = ['monitor', process.pid, bootId, host, '1234567', null];
        demand(insert.get(claim, taskId, ...owner, from, ttlMs, ttlMs, maxHoldMs, maxHoldMs, taskId));
        demand(write.get(to, taskId, from, taskId, claim));
        demand(release.get(taskId, claim));
      }
      return Promise.resolve();
    },
  };
}

function demand(row: unknown): void {
  if (row === undefined) throw new Error('the floor lost a row');
}
