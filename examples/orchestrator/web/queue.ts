import type { Orchestrator } from '../orchestrator.js';

/** What the orchestrator adds to `GET /queue`, and so to the page: its newest tasks, and their jobs. */
export async function readQueue({ db }: Pick<Orchestrator, 'db'>) {
  const tasks = await db.selectFrom('tasks').selectAll().orderBy('id', 'desc').limit(50).execute();
  const ids = tasks.map(({ id }) => id);
  const jobs = await db.selectFrom('jobs').selectAll().where('task_id', 'in', ids).orderBy('id').execute();
  return { tasks, jobs };
}
