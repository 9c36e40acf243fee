import { randomUUID } from 'node:crypto';
import type { ResultSetHeader, RowDataPacket } from 'mysql2';
import type { Contender } from '../race.js';
import { Tour } from '../tour.js';
import type { MysqlServer } from './database.js';

type Connection = Awaited<ReturnType<MysqlServer['connection']>>;

const NOW_MS = 'cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)';

/** The statements of a transition, written by hand: what the library sends, and nothing else. An insert answers no rows. */
const INSERT = `insert ignore into transition_lease (claim, task_id, owner, owner_pid, owner_boot_id, owner_host,
  owner_start, run_id, stage, ttl_ms, acquired_ms, expires_ms, deadline_ms)
  select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, clock.now_ms, clock.now_ms + least(?, ?), clock.now_ms + ?
  from (select ${NOW_MS} as now_ms) as clock`;
const READ = `select fencing_token, claim, task_id as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start,
  run_id as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, ${NOW_MS} as now_ms
  from transition_lease where task_id = ?`;
const WRITE = `update tasks set stage = ?,
  updated_at = timestampadd(microsecond, (${NOW_MS}) * 1000, '1970-01-01 00:00:00.000')
  where id = ? and cast(convert(stage using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary)
  and exists (select 1 from transition_lease where task_id = ? and claim = ? lock in share mode)`;
const RELEASE = 'delete from transition_lease where task_id = ? and claim = ?';

/** In the order in which they are sent. */
export const WRITTEN = [INSERT, READ, WRITE, RELEASE];

/** The floor: the statements of a transition, prepared once, through mysql2 alone. */
export function floor(name: string, connection: Connection): Contender {
  const tour = new Tour();
  const bootId = randomUUID();
  const host = `${randomUUID()}/pid:[4026531836]/orchestrator`;
  const [ttlMs, maxHoldMs] = [30_000, 3_600_000];
  const write = async (text: string, values: (string | number | null)[]): Promise<void> => {
    const [{ affectedRows }] = await connection.execute<ResultSetHeader>(text, values);
    if (affectedRows !== 1) throw new Error('the floor lost a row');
  };
  return {
    name,
    run: async (times) => {
      for (let time = 0; time < times; time += 1) {
        const { taskId, from, to } = tour.next();
        const claim = randomUUID();
        const owner = ['monitor', process.pid, bootId, host, '1234567', null];
        await write(INSERT, [claim, taskId, ...owner, from, ttlMs, ttlMs, maxHoldMs, maxHoldMs]);
        const [rows] = await connection.execute<RowDataPacket[]>(READ, [taskId]);
        if (rows[0]?.['claim'] !== claim) throw new Error('the floor read a row that is not its own');
        await write(WRITE, [to, taskId, from, taskId, claim]);
        await write(RELEASE, [taskId, claim]);
      }
    },
  };
}
