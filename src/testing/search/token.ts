import { budgetOf } from '../world/faults.js';
import type { Scenario } from '../world/scenario.js';
import type { Simulation } from '../world/simulation.js';

const version = 's2';

/**
 * A schedule as one word: `s2.<scenario>.<moves>`, each move by what it was.
 *
 * The scenario's mark (its process names and faults) makes a token that is used on another scenario say so, instead of
 * replaying something else. A schedule goes on with the first choice where its moves end, so those are left out there.
 */
export function tokenOf<DB>(scenario: Scenario<DB>, { taken, moves }: Pick<Simulation<DB>, 'taken' | 'moves'>): string {
  let deviating = taken.length;
  while (deviating > 0 && taken[deviating - 1] === 0) deviating--;
  return `${version}.${markOf(scenario)}.${moves.slice(0, deviating).join('')}`;
}

/** The moves of a token; throws for one that was made for another scenario, or by a version whose tokens did not know them. */
export function movesOf<DB>(scenario: Scenario<DB>, token: string): string[] {
  const [made, mark, moves] = token.split('.');
  if (made === 's1') {
    throw new TypeError(
      'this token was made by version 0.1, and does not say what its steps were: explore again for a new one',
    );
  }
  if (made !== version || mark === undefined || moves === undefined || !/^(?:[-0-9a-z][0-9a-z]{3})*$/.test(moves)) {
    throw new TypeError(`not a schedule token: ${token}`);
  }
  if (mark !== markOf(scenario)) {
    throw new TypeError('this token was made for a scenario with other processes or faults, so it cannot be replayed');
  }
  return moves.match(/.{4}/g) ?? [];
}

/** Whether a token was made for a scenario with these processes and faults. */
export const isFor = <DB>(scenario: Scenario<DB>, token: string): boolean => token.split('.')[1] === markOf(scenario);

function markOf<DB>(scenario: Scenario<DB>): string {
  const spendable = Object.entries(budgetOf(scenario.faults ?? {})).filter(([, count]) => count > 0);
  const text = [...Object.keys(scenario.processes), ...spendable.flat(), String(scenario.faults?.jumpsMs)].join();
  let mark = 7;
  for (const character of text) mark = (Math.imul(mark, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return mark.toString(36);
}
