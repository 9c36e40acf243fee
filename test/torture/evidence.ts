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
  const jobs = await sql<{ id: number | string; status: string; owned: number | string }>`
    select id, status, case when run_id is null and pid is null and started_at is null then 0 else 1 end as owned
    from jobs where status in ('queued', 'running') order by id`.execute(db);
  const leases = await db.selectFrom('transition_lease').select('task_id').orderBy('task_id').execute();
  return {
    history: history.map(numbersOf),
    effects: outside.read(),
    jobs: jobs.rows.map(({ id, status, owned }) => ({ id: Number(id), status, owned: Number(owned) === 1 })),
    held: leases.map(({ task_id }) => Number(task_id)),
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
