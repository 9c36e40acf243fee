import { oneOf, optional, requestOf } from '../../core/request.js';
import type { AnyTables, Awaitable } from '../store/store.js';
import type { Check, Scenario } from './scenario.js';
import type { World } from './view.js';

/** A rule with a name, and the moment at which it must hold. */
export interface Invariant<DB = AnyTables> {
  /** The rule in plain words; a failure begins with it. */
  readonly rule: string;
  /** After every step, at the end of a schedule, or once the faults are over. */
  readonly when: 'step' | 'end' | 'healed';
  /** Throws when the rule is broken. */
  readonly check: Check<DB>;
}

const checkOptions = requestOf(
  { when: optional(oneOf<Invariant['when']>('step', 'end', 'healed'), 'step') },
  'options',
);

/** How `invariant` may say that its rule is broken: `false`, the detail as a string, or a throw. */
export type Finding = boolean | string | undefined;

/**
 * Names a rule that must hold.
 *
 * @param rule - The rule in plain words: `one row per task`.
 * @param holds - Answers `false` or a sentence when the rule is broken, or throws.
 * @param options - `when`: after every step (default), at the `end` of a schedule, or once everything is `healed`.
 * @example
 * ```ts
 * import { invariant } from 'transition-ownership/testing';
 *
 * const bank = { charges: ['order 1'] };
 * invariant('charged at most once', () => bank.charges.length <= 1 || `charged ${bank.charges.length} times`);
 * ```
 */
export function invariant<DB = AnyTables>(
  rule: string,
  holds: (world: World<DB>) => Awaitable<Finding | void>,
  options: { readonly when?: Invariant<DB>['when'] } = {},
): Invariant<DB> {
  const { when } = checkOptions(options);
  return Object.freeze<Invariant<DB>>({ rule, when, check: judged(holds) });
}

/** A check that throws where this one says that something is wrong. */
function judged<DB>(holds: Check<DB>): Check<DB> {
  const judge = (finding: unknown) => {
    if (finding === false) throw new Error('it does not');
    if (typeof finding === 'string') throw new Error(finding);
  };
  return (world) => {
    const finding = holds(world);
    if (finding instanceof Promise) return finding.then(judge);
    judge(finding);
    return undefined;
  };
}

/** A broken rule. */
export class RuleBroken extends Error {
  readonly rule: string;

  constructor(rule: string, cause: unknown) {
    super(`${rule}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'RuleBroken';
    this.rule = rule;
  }
}

/** All the checks of a scenario that are due at one moment, as one function that throws `RuleBroken`. */
export function checksDue<DB>(
  scenario: Pick<Scenario<DB>, 'invariant' | 'finally' | 'eventually'>,
  when: Invariant<DB>['when'],
): Check<DB> | undefined {
  const due = [
    ...named(scenario.invariant, 'step', 'invariant'),
    ...named(scenario.finally, 'end', 'finally'),
    ...named(scenario.eventually, 'healed', 'eventually'),
  ].filter((each) => each.when === when);
  if (due.length === 0) return undefined;
  return (world) => {
    for (let at = 0; at < due.length; at++) {
      const pending = run(due[at], world);
      if (pending !== undefined) return pending.then(() => runAll(due.slice(at + 1), world));
    }
    return undefined;
  };
}

async function runAll<DB>(checks: readonly Invariant<DB>[], world: World<DB>): Promise<void> {
  for (const each of checks) await run(each, world);
}

function run<DB>(each: Invariant<DB> | undefined, world: World<DB>): Promise<unknown> | undefined {
  if (each === undefined) return undefined;
  try {
    const pending = each.check(world);
    if (!(pending instanceof Promise)) return undefined;
    return pending.catch((cause: unknown) => {
      throw new RuleBroken(each.rule, cause);
    });
  } catch (cause) {
    throw new RuleBroken(each.rule, cause);
  }
}

type OneOrMany<DB> = Check<DB> | Invariant<DB> | readonly (Check<DB> | Invariant<DB>)[] | undefined;

/** A bare function takes the moment of the member it stands in; a named rule brings its own, unless it stands later. */
function named<DB>(given: OneOrMany<DB>, at: Invariant<DB>['when'], member: string): Invariant<DB>[] {
  if (given === undefined) return [];
  const all = Array.isArray(given) ? (given as readonly (Check<DB> | Invariant<DB>)[]) : [given as Check<DB>];
  return all.map((each) => {
    if (typeof each === 'function') return { rule: each.name || member, when: at, check: judged(each) };
    return at === 'step' ? each : { ...each, when: at };
  });
}
