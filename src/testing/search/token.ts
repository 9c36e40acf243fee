import { budgetOf } from '../world/faults.js';
import type { Scenario } from '../world/scenario.js';

const version = 's1';

/**
 * A schedule as one word: `s1.<scenario>.<picks>`.
 *
 * The scenario's mark (its process names and faults) makes a token that is used on another scenario say so, instead of
 * replaying something else.
 */
export function tokenOf<DB>(scenario: Scenario<DB>, picks: readonly number[]): string {
  return `${version}.${markOf(scenario)}.${encode(picks)}`;
}

/** The picks of a token; refuses one that was made for another scenario. */
export function picksOf<DB>(scenario: Scenario<DB>, token: string): number[] {
  const [made, mark, ...runs] = token.split('.');
  if (made !== version || mark === undefined) throw new TypeError(`not a schedule token: ${token}`);
  if (mark !== markOf(scenario)) {
    throw new TypeError('this token was made for a scenario with other processes or faults, so it cannot be replayed');
  }
  return decode(runs.join('.'), token);
}

function markOf<DB>(scenario: Scenario<DB>): string {
  const spendable = Object.entries(budgetOf(scenario.faults ?? {})).filter(([, count]) => count > 0);
  const text = [...Object.keys(scenario.processes), ...spendable.flat(), String(scenario.faults?.jumpsMs)].join();
  let mark = 7;
  for (const character of text) mark = (Math.imul(mark, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return mark.toString(36);
}

/** Picks in base 36, runs of one pick as `pick*times`. */
function encode(picks: readonly number[]): string {
  const runs: { pick: number; times: number }[] = [];
  for (const pick of picks) {
    const run = runs.at(-1);
    if (run?.pick === pick) run.times++;
    else runs.push({ pick, times: 1 });
  }
  return runs.map(({ pick, times }) => pick.toString(36) + (times > 1 ? `*${times.toString(36)}` : '')).join('.');
}

function decode(text: string, token: string): number[] {
  if (text === '') return [];
  return text.split('.').flatMap((run) => {
    const [pick, times] = run.split('*').map((part) => Number.parseInt(part, 36));
    if (pick === undefined || Number.isNaN(pick) || Number.isNaN(times))
      throw new TypeError(`not a schedule token: ${token}`);
    return new Array<number>(times ?? 1).fill(pick);
  });
}
