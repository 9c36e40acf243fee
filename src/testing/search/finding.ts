import { RuleBroken } from '../world/invariant.js';
import { ProcessThrew, Stuck, Trouble } from '../world/trouble.js';

/** Whether an error says something about the code under test, and not about the test. */
export const isFinding = (error: unknown): error is Error => error instanceof RuleBroken || error instanceof Trouble;

/** What makes two failures the same: the rule that was broken, or the kind of trouble. */
export const kindOf = (error: Error) => (error instanceof RuleBroken ? `rule ${error.rule}` : error.name);

/** Whether a shorter schedule says more: not where real time, chance or endlessness is at fault. */
export const isShrinkable = (error: Error) =>
  error instanceof RuleBroken || error instanceof ProcessThrew || error instanceof Stuck;
