import { type Kysely, sql } from 'kysely';
import type { Logged, Outside } from './outside.js';
import type { HistoryRow, Tables } from './tables.js';

/** All that is judged: the rows of the database, and the log of the outside. */
export interface Evidence {
  readonly history: readonly HistoryRow[];
  readonly effects: readonly Logged[];
  /** Jobs that are queued and name a run, or that still run. */
  readonly jobs: readonly { readonly id: number; readonly status: string; readonly owned: boolean }[];
  /** Tasks that somebody still holds. */
  readonly held: readonly number[];
  /** Tasks with an effect that nobody can tell about. */
  readonly unsettled: readonly number[];
}

/** Reads what a run left behind. */
export async function readEvidence(
  db: Kysely<Tables>,
  outside: Outside,
  unsettled: readonly number[],
): Promise<Evidence> {
  const history = await db.selectFrom('history').selectAll().orderBy('seq').execute();
  const jobs = await db.selectFrom('jobs').selectAll().where('status', 'in', ['queued', 'running']).execute();
  const leases = await sql<{ task_id: number }>`select task_id from transition_lease order by task_id`.execute(db);
  return {
    history: history.map(numbersOf),
    effects: outside.read(),
    jobs: jobs.map(({ id, status, ...job }) => ({
      id: Number(id),
      status,
      owned: job.run_id !== null || job.pid !== null || job.started_at !== null,
    })),
    held: leases.rows.map(({ task_id }) => Number(task_id)),
    unsettled,
  };
}

const TEXTS: readonly string[] = ['kind', 'claim', 'was', 'is_now'] satisfies readonly (keyof HistoryRow)[];

/** Drivers give integers of 64 bits as text. */
function numbersOf(row: HistoryRow): HistoryRow {
  const entries = Object.entries(row).map(([name, value]: [string, unknown]) => [
    name,
    value === null || TEXTS.includes(name) ? value : Number(value),
  ]);
  return Object.fromEntries(entries) as HistoryRow;
}
