import { Failure } from '../failure/failure.js';
import type { Spoken } from '../world/run-options.js';

/** A warning for each rule that never said anything: one that throws when it is broken, or that forgets to return. */
export const silent = (spoken: Spoken): string[] =>
  [...spoken]
    .filter(([, said]) => said === 'silent')
    .map(
      ([rule]) =>
        `the rule "${rule}" returned undefined in every schedule: it can only be broken by a throw. Does it forget to return?`,
    );

/** What was to be reached and never was. */
export function missed(spoken: Spoken): Failure | undefined {
  const titles = [...spoken].filter(([, said]) => said === 'missed').map(([title]) => `"${title}"`);
  if (titles.length === 0) return undefined;
  return Failure.ofScenario(
    new Error(`never reached: ${titles.join(', ')}. No schedule that was run came there, so this tests nothing of it.`),
  );
}
