import { withTransitionLease } from '../../index.js';
import type { Ported, Process } from '../world/process.js';
import type { StageMachine } from './handler-suite.js';
import { suiteProcess, suiteTasks } from './suite-tables.js';

/** The one task that a handler suite moves. */
export const theTask = 1;

/** Moves the task on, one stage after another, until it is at a final stage or somebody else is at it. */
export async function drive<S extends string, Outside extends Record<string, object>, DB>(
  process: Process<DB>,
  machine: StageMachine<S, Outside, DB>,
  { outside }: { readonly outside: Outside },
): Promise<string> {
  const ownership = suiteProcess(process).createOwnership({ tasks: suiteTasks });
  const wrapped = wrap(process, outside);
  for (;;) {
    const stage = await stageNow(process);
    const handler = machine.handlers[stage as S];
    if (handler === undefined) return stage;
    const moved = await withTransitionLease(ownership, { taskId: theTask, actor: 'worker', stage }, async (held) => {
      // What was read before the lease was had may be over by now; what is read under it is not.
      if ((await stageNow(process)) !== stage) return undefined;
      return held.updateStage(await handler(process, theTask, wrapped));
    });
    if (moved.isErr()) return moved.error.type;
  }
}

async function stageNow<DB>(process: Process<DB>): Promise<string> {
  const { db } = suiteProcess(process);
  const row = await db.selectFrom(suiteTasks.table).select('stage').where('id', '=', theTask).executeTakeFirstOrThrow();
  return row.stage;
}

/** The world outside, as a handler sees it. */
type PortedOutside<Outside> = { readonly [Name in keyof Outside]: Ported<Outside[Name]> };

function wrap<Outside extends Record<string, object>, DB>(
  process: Process<DB>,
  outside: Outside,
): PortedOutside<Outside> {
  const ported = Object.entries(outside).map(([name, client]) => [name, process.port(name, client)]);
  return Object.fromEntries(ported) as PortedOutside<Outside>;
}
