import { setImmediate } from 'node:timers/promises';
import { acquireLease, type Held, recoverOnStartup, withTransitionLease } from 'transition-ownership';
import type { Orchestrator } from './orchestrator.js';
import { told } from './told.js';

/** A whole transition, as a test asks for it. */
export interface Transition {
  readonly taskId: number;
  /** Gives the lease back in the commit of the stage write. */
  readonly release?: boolean;
  /** How the irreversible step is taken. Default `asked`: the outside is asked by hand whether it was. */
  readonly effect?: 'asked' | 'blind' | 'journalled';
}

/** Whole transitions, and loops of them. */
export function transitionsOf({ db, ownership, outside }: Orchestrator) {
  let enough = false;

  const step = async ({ taskId, effect = 'asked' }: Transition, held: Held) => {
    if (effect === 'journalled') {
      const probe = () => (outside.has(taskId) ? 'applied' : 'not-applied');
      const apply = () => outside.apply(taskId, held.fencingToken);
      return (await held.runEffect({ effect: 'merge', key: 'the only one', probe, apply })).isOk();
    }
    if (effect === 'blind' || !outside.has(taskId)) outside.apply(taskId, held.fencingToken);
    return true;
  };

  /** From `deploy` to `done`: lease, effect, stage; a task that is done is left alone. */
  const transition = async (request: Transition) => {
    const { taskId, release = false } = request;
    const task = await db.selectFrom('tasks').select(['stage', 'count']).where('id', '=', taskId).executeTakeFirst();
    if (task === undefined || task.stage !== 'deploy') return { ok: { stage: task?.stage } };
    const wanted = { taskId, actor: 'finalizer', stage: 'deploy' };
    return told(
      withTransitionLease(ownership, wanted, async (held) => {
        if (!(await step(request, held))) throw new Error('the effect was not applied');
        return held.updateStage('done', { set: { count: task.count + 1 }, release });
      }),
    );
  };

  const recovered = () => {
    const probe = ({ taskId }: { taskId: number }) => (outside.has(taskId) ? 'applied' : 'not-applied');
    return told(recoverOnStartup(ownership, { jobs: 'dead-only', probes: { merge: probe } }));
  };

  return {
    transition,

    /** Recovers what dead processes left behind. */
    recoverOnStartup: () => recovered(),

    /** What an orchestrator does at its start: recovers what the dead left behind, then finishes the task. */
    async recover(request: Transition) {
      return { recovered: await recovered(), transition: await transition(request) };
    },

    /** Tries for every task in turn, as fast as it can, and keeps what it wins. */
    async race({ tasks }: { tasks: readonly number[] }) {
      const won: number[] = [];
      const refused = new Set<string>();
      for (const taskId of tasks) {
        const acquired = await acquireLease(ownership, { taskId, actor: 'racer' });
        if (acquired.isOk()) won.push(taskId);
        else refused.add(acquired.error.type);
      }
      return { won, refused: [...refused] };
    },

    /** Moves a task to and fro, each time counting in JavaScript under the lease; busy means once more. */
    async toAndFro({ taskId, times = Number.POSITIVE_INFINITY }: { taskId: number; times?: number }) {
      const failures = new Set<string>();
      let moves = 0;
      while (moves < times && !enough) {
        const moved = await withTransitionLease(ownership, { taskId, actor: 'monitor' }, async (held) => {
          const task = await db.selectFrom('tasks').selectAll().where('id', '=', taskId).executeTakeFirstOrThrow();
          const next = task.stage === 'deploy' ? 'done' : 'deploy';
          return held.updateStage(next, { expected: task.stage, set: { count: task.count + 1 } });
        });
        if (moved.isOk()) moves += 1;
        else failures.add(moved.error.type);
        await setImmediate(); // Statements alone never let the words of the test in.
      }
      return { moves, failures: [...failures] };
    },
    async enough() {
      enough = true;
    },
  };
}
