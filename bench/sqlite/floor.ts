import { randomUUID } from 'node:crypto';
import type BetterSqlite3 from 'better-sqlite3';
import type { Contender } from '../race.js';
import { TASKS, Tour } from '../tour.js';

const NOW_MS = `cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer)`;

/** The three statements of a transition, written by hand: what the library sends, and nothing else. */
export const FLOOR_SQL = [
  `insert into transition_lease (claim, task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, run_id,
    stage, ttl_ms, acquired_ms, expires_ms, deadline_ms)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${NOW_MS}, ${NOW_MS} + min(?, ?), ${NOW_MS} + ?)
    on conflict (task_id) do nothing returning fencing_token, claim, acquired_ms, expires_ms, deadline_ms`,
  `update tasks set stage = ?, updated_at = strftime('%Y-%m-%d %H:%M:%f', ${NOW_MS} / 1000.0, 'unixepoch')
    where id = ? and stage is ? collate binary
    and exists (select 1 from transition_lease where task_id = ? and claim = ?) returning stage as stage`,
  `delete from transition_lease where task_id = ? and claim = ? returning fencing_token`,
] as const;

const SCHEMA = `
  create table tasks (id integer primary key, stage text not null, updated_at text);
  create table transition_lease (fencing_token integer primary key autoincrement, claim text not null,
    task_id integer not null, owner text not null, owner_pid integer, owner_boot_id text, run_id integer, stage text,
    acquired_at text not null default (datetime('now')), owner_host text, owner_start text,
    acquired_ms integer not null, expires_ms integer not null, ttl_ms integer not null, deadline_ms integer,
    unique (task_id));
  insert into tasks (id, stage) with recursive n (i) as (select 1 union all select i + 1 from n where i < ${TASKS})
    select i, 'staged' from n`;

/** The floor: the statements of a transition, prepared once, through better-sqlite3 alone. */
export function floor(name: string, database: BetterSqlite3.Database): Contender {
  database.exec(SCHEMA);
  const [insert, write, release] = FLOOR_SQL.map((statement) => database.prepare(statement));
  if (!insert || !write || !release) throw new Error('a transition has three statements');
  const tour = new Tour();
  const bootId = randomUUID();
  const host = `${randomUUID()}/pid:[4026531836]/${'host'.repeat(3)}`;
  const [ttlMs, maxHoldMs] = [30_000, 3_600_000];
  return {
    name,
    run: (times) => {
      for (let time = 0; time < times; time += 1) {
        const { taskId, from, to } = tour.next();
        const claim = randomUUID();
        const owner = ['monitor', process.pid, bootId, host, '1234567', null];
        demand(insert.get(claim, taskId, ...owner, from, ttlMs, ttlMs, maxHoldMs, maxHoldMs));
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
