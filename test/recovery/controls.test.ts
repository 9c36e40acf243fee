import { expect, test } from 'vitest';
import { sqliteStore } from '../job/stores.js';
import { openYard } from '../job/yard.js';
import { recovering } from './recovering.js';

const LIST = /^select .* from "transition_effect" where "state" = 'started'/s;

/** The list of unfinished effects with one part removed, and the proof that must fail then. */
const MUTANTS = [
  {
    removes: 'the state',
    from: /where "state" = 'started'/,
    to: 'where 1 = 1',
    killedBy:
      'recoverOnStartup lists a task once, with all its unfinished effects, and no task whose effects are applied',
  },
  {
    removes: 'the order of the effects',
    from: /, "effect", "key"\s+limit/,
    to: ', "effect" desc, "key" limit',
    killedBy:
      'recoverOnStartup lists a task once, with all its unfinished effects, and no task whose effects are applied',
  },
] as const;

test.for(MUTANTS)(
  'SQL mutant: without $removes in the list of unfinished effects, a proof fails',
  async ({ from, to, killedBy }) => {
    const proof = recovering[killedBy];
    if (proof === undefined) throw new Error(`there is no proof ${killedBy}`);
    let mutated = 0;
    const mutate = (text: string): string => {
      const mutant = LIST.test(text) ? text.replace(from, to) : text;
      if (mutant !== text) mutated += 1;
      return mutant;
    };
    await using yard = await openYard(sqliteStore, { mutate });
    await expect(proof(yard), killedBy).rejects.toThrow();
    expect(mutated).toBeGreaterThan(0);
  },
);
