import { recoverOnStartup } from 'transition-ownership';
import { advance, probe } from './engine.js';
import type { Orchestrator } from './orchestrator.js';
import { gates } from './stages.js';

/**
 * Start-up recovery, before any new work is taken. The library returns the jobs of dead processes to the queue,
 * repairs impossible ones, reclaims the leases of dead owners and lists what was broken off, in this order; what can
 * go on is then driven to its end, and what nobody can know is left to a person.
 */
export async function recover(orchestrator: Orchestrator): Promise<{ readonly held: readonly number[] }> {
  const { ownership, outside } = orchestrator;
  const probes = Object.fromEntries(
    Object.values(gates).flatMap((effects) =>
      effects.map((effect) => [effect, ({ key }: { key: string }) => probe(outside, { effect, key })]),
    ),
  );
  const recovered = await recoverOnStartup(ownership, { jobs: 'dead-only', probes });
  if (recovered.isErr()) throw new Error(recovered.error.message, { cause: recovered.error });

  const held: number[] = [];
  for (const { taskId, decision } of recovered.value.transitions) {
    if (decision === 'hold') held.push(taskId);
    else void (await advance(orchestrator, { taskId, actor: 'finalizer' }));
  }
  return { held };
}
