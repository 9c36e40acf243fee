import { boolean, oneOf, optional, requestOf } from '../../core/request.js';
import type { AnyTables, Awaitable } from '../store/store.js';
import type { World } from './view.js';

/** A check by hand: throws, or returns `false` or a sentence, when the world is wrong. Other answers say nothing. */
export type Check<DB = AnyTables> = (world: World<DB>) => Awaitable<unknown>;

/** A rule with a name, and the moment at which it must hold. */
export interface Invariant<DB = AnyTables> {
  /** The rule in plain words; a failure begins with it. */
  readonly rule: string;
  /** After every step, at the end of a schedule, or once the faults are over. */
  readonly when: 'step' | 'end' | 'healed';
  /** Throws when the rule is broken. */
  readonly check: Check<DB>;
  /**
   * It judges only steps that changed rows, and only by the rows before and after and by who took the step. Such a rule
   * may look at `previous` and `actors` without that steps which commute are run in every order. Default: false.
   */
  readonly ofChanges?: boolean;
  /** It is not to hold always, but to be true once at least. See `reached`. */
  readonly reaches?: boolean;
}

const checkOptions = requestOf(
  {
    when: optional(oneOf<Invariant['when']>('step', 'end', 'healed'), 'step'),
    ofChanges: optional(boolean, false),
  },
  'options',
);

/** How `invariant` may say that its rule is broken: `false`, the detail as a string, or a throw. */
export type Finding = boolean | string | undefined;

/**
 * Names a rule that must hold.
 *
 * @param rule - The rule in plain words: `one row per task`.
 * @param holds - Returns `false` or a sentence when the rule is broken, or throws.
 * @param options - `when`: after every step (default), at the `end` of a schedule, or once everything is `healed`;
 *   `ofChanges`: see `Invariant`.
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
  options: Partial<Pick<Invariant<DB>, 'when' | 'ofChanges'>> = {},
): Invariant<DB> {
  const { when, ofChanges } = checkOptions(options);
  return Object.freeze<Invariant<DB>>({ rule, when, check: judged(holds), ofChanges });
}

/**
 * Names what must happen in some schedule at least: where it never does, the search fails, for it tested nothing.
 *
 * Stands among the rules of `invariant`, `finally` or `eventually`, and is asked when those are.
 *
 * @param title - What must be reached, in plain words: `both want the lease at once`.
 * @param isReached - Returns `true` where it is.
 * @example
 * ```ts
 * import { assertHolds, explore, reached } from 'transition-ownership/testing';
 * import { scenario, store, type Tables } from './scenario.js';
 *
 * const moved = reached<Tables>('the task gets moved', (world) => world.rows('task')[0]?.['stage'] === 'done');
 * assertHolds(await explore(store, { ...scenario, invariant: [moved] }));
 * ```
 */
export function reached<DB = AnyTables>(
  title: string,
  isReached: (world: World<DB>) => Awaitable<boolean>,
): Invariant<DB> {
  return Object.freeze<Invariant<DB>>({ rule: title, when: 'step', check: isReached, reaches: true });
}

/** A check that throws where this one says that something is wrong. */
function judged<DB>(holds: Check<DB>): Check<DB> {
  const judge = (finding: unknown) => {
    if (finding === false) throw new Error('it does not');
    if (typeof finding === 'string') throw new Error(finding);
    return finding;
  };
  return (world) => {
    const finding = holds(world);
    return finding instanceof Promise ? finding.then(judge) : judge(finding);
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

/** What goes on around each check. */
export interface Hearing {
  /** A rule is about to look at the world. */
  asks(): void;
  /** It found the world right, or had nothing to say. */
  hears(rule: Pick<Invariant, 'rule' | 'ofChanges' | 'reaches'>, finding: unknown): void;
}

const deaf: Hearing = Object.freeze({ asks() {}, hears() {} });

/** What a scenario demands, and when. */
export interface Rules<DB> {
  readonly invariant?: OneOrMany<DB>;
  readonly finally?: OneOrMany<DB>;
  readonly eventually?: OneOrMany<DB>;
}

type OneOrMany<DB> = Check<DB> | Invariant<DB> | readonly (Check<DB> | Invariant<DB>)[] | undefined;

/** All the checks that are due at one moment, as one function that throws `RuleBroken`. */
export function checksDue<DB>(
  rules: Rules<DB>,
  when: Invariant<DB>['when'],
  hearing: Hearing = deaf,
): Check<DB> | undefined {
  const due = [
    ...named(rules.invariant, 'step', 'invariant'),
    ...named(rules.finally, 'end', 'finally'),
    ...named(rules.eventually, 'healed', 'eventually'),
  ].filter((each) => each.when === when);
  if (due.length === 0) return undefined;
  return (world) => {
    for (let at = 0; at < due.length; at++) {
      const pending = run(due[at], world, hearing);
      if (pending !== undefined) return pending.then(() => runAll(due.slice(at + 1), world, hearing));
    }
    return undefined;
  };
}

async function runAll<DB>(checks: readonly Invariant<DB>[], world: World<DB>, hearing: Hearing): Promise<void> {
  for (const each of checks) await run(each, world, hearing);
}

function run<DB>(each: Invariant<DB> | undefined, world: World<DB>, hearing: Hearing): Promise<void> | undefined {
  if (each === undefined) return undefined;
  const { rule } = each;
  const hear = (finding: unknown) => hearing.hears(each, finding);
  try {
    hearing.asks();
    const finding = each.check(world);
    if (!(finding instanceof Promise)) {
      hear(finding);
      return undefined;
    }
    return finding.then(hear, (cause: unknown) => {
      throw new RuleBroken(rule, cause);
    });
  } catch (cause) {
    throw new RuleBroken(rule, cause);
  }
}

/** A bare function takes the moment of the member it stands in; a named rule brings its own, unless it stands later. */
function named<DB>(given: OneOrMany<DB>, at: Invariant<DB>['when'], member: string): Invariant<DB>[] {
  if (given === undefined) return [];
  const all = Array.isArray(given) ? (given as readonly (Check<DB> | Invariant<DB>)[]) : [given as Check<DB>];
  return all.map((each) => {
    if (typeof each === 'function') return { rule: each.name || member, when: at, check: judged(each) };
    return at === 'step' ? each : { ...each, when: at };
  });
}
