import { ok } from 'neverthrow';
import { type Snapshot, snapshot } from 'transition-ownership';
import type { Orchestrator } from '../orchestrator.js';

/** `GET /queue`: the newest tasks, their jobs, and who holds what on what evidence. */
export async function readQueue({ db, ownership }: Orchestrator) {
  const tasks = await db.selectFrom('tasks').selectAll().orderBy('id', 'desc').limit(50).execute();
  const ids = tasks.map(({ id }) => id);
  const jobs = await db.selectFrom('jobs').selectAll().where('task_id', 'in', ids).orderBy('id').execute();
  return snapshot(ownership).andThen((taken) => ok({ ...taken, tasks, jobs }));
}

/** `GET /metrics`: the snapshot in the text format of Prometheus. */
export function toMetrics({ leases, impossibleQueued, unfinishedEffects, counters }: Snapshot): string {
  const gauges = { leases: leases.length, impossibleQueued, unfinishedEffects };
  const lines = [
    ...Object.entries(gauges).map(([name, value]) => metric(snake(name), { kind: 'gauge', value })),
    ...Object.entries(counters).map(([name, value]) => metric(`${snake(name)}_total`, { kind: 'counter', value })),
  ];
  return `${lines.join('\n')}\n`;
}

function metric(name: string, { kind, value }: { kind: 'gauge' | 'counter'; value: number | null }): string {
  const full = `transition_ownership_${name}`;
  return `# TYPE ${full} ${kind}\n${full} ${value ?? 'NaN'}`;
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
