import { asText } from './interner.js';
import type { WorldState } from './state.js';

/**
 * What tells one state from another: the tables, time, what is left of the budgets, the world outside, and of each
 * process all that it has seen. Facts and history are part of it, for rules look at them.
 */
export function stateKey<DB>(state: WorldState<DB>): string {
  const { budget, scenario } = state;
  const outside =
    scenario.outside === undefined ? state.effectsKey : asText([scenario.outside(), [...state.effects].sort()]);
  const left = `${budget.crashes},${budget.restarts},${budget.lostReplies},${budget.failures},${budget.diskFull},${budget.clockJumps},${budget.databaseClockJumps},${budget.timePasses},${budget.timers}`;
  let key = `${state.tablesKey}@${state.nowMs}+${state.databaseAheadMs}${state.diskIsFull ? 'F' : ''}/${left}/${outside}`;
  for (const each of state.processes) key += `|${each.key(state.version)}`;
  if (state.facts.length > 0) key += asText(state.facts);
  return key + state.operations.key(asText);
}
