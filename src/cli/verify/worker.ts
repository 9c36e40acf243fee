import { sql } from 'kysely';
import { acquireLease, createTransitionOwnership, releaseLease, updateStageCas } from 'transition-ownership';
import { openSite, type Site } from './scratch.js';
import { TASKS, TTL_MS } from './torture-tables.js';

/** The environment variable that tells a process where to work. */
const SITE = 'TRANSITION_OWNERSHIP_VERIFY';

/** One process of the torture: takes tasks, moves them on under its lease, and writes down what it did, until it is killed. */
async function work(site: Site): Promise<never> {
  const db = await openSite(site, 2);
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    lease: { ttlMs: TTL_MS, renewEveryMs: TTL_MS / 5 },
  });
  for (;;) {
    const taskId = 1 + Math.floor(Math.random() * TASKS);
    const acquired = await acquireLease(ownership, { taskId, actor: 'worker' });
    if (acquired.isErr()) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    const lease = acquired.value;
    const token = lease.fencingToken;
    // What fails here fails as it would for an application: the next turn goes on from what the database says.
    await sql`insert into grants (task, token) values (${taskId}, ${token})`.execute(db).catch(() => undefined);
    for (let steps = Math.floor(Math.random() * 4); steps >= 0; steps -= 1) {
      const { rows } = await sql<{ stage: string }>`select stage from tasks where id = ${taskId}`
        .execute(db)
        .catch(() => ({ rows: [] }));
      const stage = Number(rows[0]?.stage);
      if (rows.length === 0) break;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      const next = String(stage + 1);
      const moved = await updateStageCas(ownership, { taskId, expected: String(stage), next, lease });
      if (moved.isErr()) break;
      await sql`insert into moves (task, stage, token) values (${taskId}, ${stage + 1}, ${token})`
        .execute(db)
        .catch(() => undefined);
    }
    await releaseLease(ownership, lease).match(
      () => undefined,
      () => undefined,
    );
  }
}

void work(JSON.parse(process.env[SITE] ?? '') as Site);
process.on('disconnect', () => process.exit(0));
