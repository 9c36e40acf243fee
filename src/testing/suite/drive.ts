import { withTransitionLease } from '../../index.js';
import type { Ported, Process } from '../world/process.js';
import type { StageMachine } from './stage-machine.js';
import { suiteProcess, suiteTasks } from './suite-tables.js';

/** The one task that a handler suite moves. */
export const theTask = 1;

/** Why a process left the task where it was. */
export interface Stopped {
  readonly stoppedBy: string;
}

/** Moves the task on, one stage after another, until it is at a final stage or another process is at it. */
export async function drive<S extends string, Outside extends Record<string, object>, DB>(
  process: Process<DB>,
  machine: StageMachine<S, Outside, DB>,
  { outside }: { readonly outside: Outside },
): Promise<S | Stopped> {
  const ownership = suiteProcess(process).createOwnership({ tasks: suiteTasks });
  const wrapped = wrap(process, outside);
  for (;;) {
    const stage = await stageNow(process);
    const handler = machine.handlers[stage as S];
    if (handler === undefined) return stage as S;
    let isCalled = false;
    const moved = await withTransitionLease(ownership, { taskId: theTask, actor: 'worker', stage }, async (held) => {
      isCalled = true;
      return held.updateStage(await handler(process, theTask, wrapped));
    });
    // What was read before the lease was had may be over by then.
    const isOver = moved.isErr() && moved.error.type === 'lost-race' && !isCalled;
    if (moved.isErr() && !isOver) return { stoppedBy: wordsOf(moved.error) };
  }
}

/** Why a process stopped, in words; `undefined` where it did not. */
export function stopOf(result: unknown): string | undefined {
  const stoppedBy: unknown = Reflect.get(Object(result), 'stoppedBy');
  return typeof stoppedBy === 'string' ? stoppedBy : undefined;
}

function wordsOf(error: { readonly type: string; readonly cause?: unknown }): string {
  if (error.type !== 'handler-failed') return error.type;
  const { cause } = error;
  return `the handler threw ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`;
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
