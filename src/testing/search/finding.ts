import { RuleBroken } from '../world/invariant.js';
import { Trouble } from '../world/trouble.js';

/** Whether an error says something about the code under test, and not about the test. */
export const isFinding = (error: unknown): error is Error => error instanceof RuleBroken || error instanceof Trouble;

/** What makes two failures the same: the rule that was broken, or the kind of trouble. */
export const kindOf = (error: Error) => (error instanceof RuleBroken ? `rule ${error.rule}` : error.name);
