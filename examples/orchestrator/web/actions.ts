import { ok, type Result } from 'neverthrow';
import { updateStageCas } from 'transition-ownership';
import type { Stage } from '../database.js';
import { advance } from '../engine.js';
import type { Orchestrator } from '../orchestrator.js';

/** What an action may fail with: told by value, as the library tells it. */
interface Refusal {
  readonly type: string;
  readonly message: string;
}

/** What somebody outside sends; the library checks the shape of what it is handed. */
interface Body {
  readonly repo: string;
  readonly sha: string;
  readonly taskId: number;
  readonly expected: Stage;
  readonly next: Exclude<Stage, 'deploy-staging'>;
}

/** Something that can be asked of the orchestrator. */
export type Action = (orchestrator: Orchestrator, body: Body) => PromiseLike<Result<unknown, Refusal>>;

/** `POST` to each: what can be asked of the orchestrator. */
export const actions: Readonly<Record<string, Action>> = {
  '/tasks': async ({ db }, { repo, sha }) => {
    const added = db.insertInto('tasks').values({ repo, sha, stage: 'deploy-staging' }).returning('id');
    return ok(await added.executeTakeFirstOrThrow());
  },

  /** The build server says that a task may go on: through all gates, like everybody. */
  '/webhook/ci': (orchestrator, { taskId }) => advance(orchestrator, { taskId, actor: 'webhook' }),

  /** The code host says where a task is: written directly, and refused while somebody owns the transition. */
  '/webhook/stage': async ({ db, ownership }, { taskId, expected, next }) => {
    const task = await db.selectFrom('tasks').select('repo').where('id', '=', taskId).executeTakeFirst();
    return updateStageCas(ownership, { taskId, expected, next, context: task?.repo });
  },
};
