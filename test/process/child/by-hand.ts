import { sql } from 'kysely';
import type { Orchestrator } from './orchestrator.js';

/** What people write by hand, for the negative controls. */
export function handmade({ db }: Orchestrator) {
  return {
    /** Looks whether the task is free, and then takes it. */
    async lookThenInsert({ taskId }: { taskId: number }) {
      const found = await sql`select 1 from handmade where task_id = ${taskId}`.execute(db);
      if (found.rows.length > 0) return 'busy';
      await sql`insert into handmade (task_id, owner) values (${taskId}, ${process.pid})`.execute(db);
      return 'won';
    },

    /** Reads a counter, adds one, and writes it back. */
    async countUnguarded({ taskId }: { taskId: number }) {
      const { count } = await db.selectFrom('tasks').select('count').where('id', '=', taskId).executeTakeFirstOrThrow();
      await db
        .updateTable('tasks')
        .set({ count: count + 1 })
        .where('id', '=', taskId)
        .execute();
    },
  };
}
