import { err, ok } from 'neverthrow';
import { type Actor, type Held, withTransitionLease } from 'transition-ownership';
import type { Orchestrator } from './orchestrator.js';
import { point } from './points.js';
import { gates, transitions } from './stages.js';

/** Moves a task to its next stage, through all gates, or says why not: the one way for every actor. */
export async function advance({ db, ownership, outside }: Orchestrator, taskId: number, actor: Actor) {
  const readTask = () => db.selectFrom('tasks').selectAll().where('id', '=', taskId).executeTakeFirstOrThrow();
  const { stage, repo } = await readTask();
  const [next] = transitions[stage];
  if (next === undefined) return ok({ type: 'nothing-to-do' } as const);

  return withTransitionLease(ownership, { taskId, actor, stage, context: repo }, async (held) => {
    // Whoever waited for the lease looks again: its last owner may have finished the move.
    const task = await readTask();
    if (task.stage !== stage) return ok({ type: 'nothing-to-do' } as const);
    for (const effect of gates[stage]) {
      const passed = await passGate(outside, held, { effect, taskId, key: task.sha });
      if (passed.isErr()) return err(passed.error);
    }
    await point(`${stage} gates passed`);
    return held.updateStage(next, { release: true }).map(({ to }) => ({ type: 'moved', from: stage, to }) as const);
  });
}

/** One irreversible step: asked about before it is taken, and taken only under a lease that will last. */
async function passGate(
  outside: Orchestrator['outside'],
  held: Pick<Held, 'ensure' | 'fencingToken'>,
  step: { effect: string; taskId: number; key: string },
) {
  const ready = await held.ensure(500);
  if (ready.isErr()) return err(ready.error);
  if (!outside.has(step)) await outside.apply({ ...step, fencingToken: held.fencingToken });
  return ok();
}
