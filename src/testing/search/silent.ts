import type { Spoken } from '../world/run-options.js';

/** A warning for each rule that never said anything: one that throws when it is broken, or that forgets to return. */
export const silent = (spoken: Spoken): string[] =>
  [...spoken]
    .filter(([, said]) => !said)
    .map(
      ([rule]) =>
        `the rule "${rule}" returned undefined in every schedule: it can only be broken by a throw. Does it forget to return?`,
    );
