import { err, ok } from 'neverthrow';
import { type Actor, withTransitionLease } from 'transition-ownership';
import { point } from './control.js';
import type { Orchestrator } from './orchestrator.js';
import type { Outside, Step } from './outside.js';
import { gates, transitions } from './stages.js';

/** Who wants a task moved, on behalf of which run. */
export interface Move {
  readonly taskId: number;
  readonly actor: Actor;
  readonly runId?: number;
}

const NOTHING = Object.freeze({ type: 'nothing-to-do' });

/** Moves a task to its next stage, through all gates, or says why not: the one way for every actor. */
export async function advance({ db, ownership, outside }: Orchestrator, { taskId, actor, runId }: Move) {
  const asked = await db.selectFrom('tasks').selectAll().where('id', '=', taskId).executeTakeFirst();
  const [next] = asked === undefined ? [] : transitions[asked.stage];
  if (asked === undefined || next === undefined) return ok(NOTHING);

  const { stage, repo, sha } = asked;
  return withTransitionLease(ownership, { taskId, actor, stage, runId: runId ?? null, context: repo }, async (held) => {
    for (const effect of gates[stage]) {
      const step = { effect, key: `${repo}@${sha}` };
      const passed = await held.runEffect({
        ...step,
        probe: () => probe(outside, step),
        apply: ({ fencingToken }) => outside.apply({ ...step, taskId, fencingToken }),
      });
      if (passed.isErr()) return err(passed.error);
    }
    await point(`${stage} gates passed`);
    return held.updateStage(next, { release: true }).map(({ to }) => ({ type: 'moved', from: stage, to }) as const);
  });
}

/** Asks the outside world whether a step is done. */
export async function probe(outside: Outside, step: Step) {
  return (await outside.has(step)) ? 'applied' : 'not-applied';
}
