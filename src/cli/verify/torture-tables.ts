import { sql } from 'kysely';
import type { Handle } from './scratch.js';

/** The tasks that the processes fight for. */
export const TASKS = 4;
/** The time to live of their leases, in ms. */
export const TTL_MS = 1_500;

/** Makes the tables: `tasks` as an application has one, and what the processes say that they did. */
export async function makeTables(db: Handle): Promise<void> {
  await sql`create table tasks (id int not null primary key, stage varchar(20) not null)`.execute(db);
  await sql`create table grants (task int not null, token bigint not null)`.execute(db);
  await sql`create table moves (task int not null, stage int not null, token bigint not null)`.execute(db);
}

/** A move of a task, as the process that won it wrote it down. */
interface Move {
  readonly task: number;
  readonly stage: number;
  readonly token: number;
}

/** What is wrong with what was written down, and how much that was. */
export async function judgeTables(
  db: Handle,
): Promise<{ readonly grants: number; readonly moves: number; readonly wrong: string[] }> {
  const grants = await read(db, sql`select task, 0 as stage, token from grants`);
  const moves = await read(db, sql`select task, stage, token from moves order by task, stage`);
  const tasks = await read(db, sql`select id as task, stage, 0 as token from tasks`);
  const wrong: string[] = [];
  const tokens = new Set(grants.map(({ token }) => token));
  if (tokens.size !== grants.length) wrong.push(`${grants.length - tokens.size} fencing tokens were granted twice`);
  for (const [at, move] of moves.entries()) {
    const before = moves[at - 1];
    if (before?.task !== move.task) continue;
    if (before.stage === move.stage) wrong.push(`task ${move.task} was moved to ${move.stage} twice`);
    if (before.token > move.token)
      wrong.push(`token ${move.token} moved task ${move.task} after token ${before.token}`);
  }
  for (const { task, stage } of tasks) {
    const last = Math.max(0, ...moves.filter((move) => move.task === task).map((move) => move.stage));
    if (last > stage) wrong.push(`task ${task} is at ${stage} and was moved to ${last}: a commit was lost`);
  }
  return { grants: grants.length, moves: moves.length, wrong };
}

async function read(db: Handle, query: ReturnType<typeof sql<unknown>>): Promise<Move[]> {
  const { rows } = await query.execute(db);
  return (rows as Record<keyof Move, unknown>[]).map(({ task, stage, token }) => ({
    task: Number(task),
    stage: Number(stage),
    token: Number(token),
  }));
}
