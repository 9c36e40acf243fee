import { asText } from './interner.js';
import type { Simulation } from './simulation.js';

/**
 * What tells one state from another: the tables, time, what is left of the budgets, the world outside, and of each
 * process all that it has seen. Facts and history are part of it, for rules look at them.
 */
export function stateKey<DB>(world: Simulation<DB>): string {
  const { budget, scenario } = world;
  const outside =
    scenario.outside === undefined ? world.effectsKey : asText([scenario.outside(), [...world.effects].sort()]);
  const left = `${budget.crashes},${budget.restarts},${budget.lostReplies},${budget.failures},${budget.diskFull},${budget.clockJumps},${budget.databaseClockJumps},${budget.timers}`;
  let key = `${world.tablesKey}@${world.nowMs}+${world.databaseAheadMs}${world.diskIsFull ? 'F' : ''}/${left}/${outside}`;
  for (const each of world.processes) key += `|${each.key(world.version)}`;
  if (world.facts.length > 0) key += asText(world.facts);
  return key + world.operations.key(asText);
}
