import { checkObject } from '../../core/check.js';
import { amount, by, callable, given, list, object, oneOf, optional, type Rule } from '../../core/request.js';
/** A number of injected failures, each with one of these errors. */
export interface Failures {
  /** How many in one schedule. */
  readonly count: number;
  /** One choice for each of these. Default: what the store calls a refused statement. */
  readonly errors?: readonly (() => Error)[];
}

/** A number of restarts, and the pid that the new start gets. */
export interface Restarts {
  /** How many in one schedule. */
  readonly count: number;
  /** `either` tries both. Default: `either`. */
  readonly pid?: 'another' | 'same' | 'either';
}

/**
 * The faults of a scenario, each a budget for one schedule. Default of each: none.
 *
 * Exploration tries every fault at every moment. A kind that no schedule could ever meet makes the run fail as
 * vacuous, for then the scenario did not test what it says.
 */
export interface Faults {
  /** `kill -9` before any start, statement, effect or exit of any process. */
  readonly crashes?: number;
  /** A killed process comes back with nothing in memory. */
  readonly restarts?: number | Restarts;
  /** A statement or effect that took place, whose answer did not arrive. */
  readonly lostReplies?: number;
  /** A statement or effect that did not take place, and says so. */
  readonly failures?: number | Failures;
  /** The disk is full from one moment on until another: every write fails in between. */
  readonly diskFull?: number;
  /** Everyone's clock jumps forward. For a process that is not scheduled meanwhile this is `SIGSTOP` past its lease. */
  readonly clockJumps?: number;
  /**
   * The clock of the database alone jumps forward: leases are over for others, and their owners do not notice. Then only
   * the fences in the database are left.
   */
  readonly databaseClockJumps?: number;
  /** How far clocks jump, in milliseconds. Default `expiries`: to just below, exactly at and just past every expiry in sight. */
  readonly jumpsMs?: readonly number[] | 'expiries';
  /**
   * How often time may pass while someone could go on: to the instant at which the next sleeper wakes or the next timer
   * is due. Without it a sleeper wakes only once no one else can go on, so 0 is never `complete` where someone sleeps.
   * Default: 2.
   */
  readonly timePasses?: number;
  /** How often `clock.schedule` may call back in one schedule. Not a fault, but what keeps renewals finite. Default: 8. */
  readonly timers?: number;
  /** A fixed offset of one process's wall clock, in milliseconds, by process name. */
  readonly skewMs?: Readonly<Record<string, number>>;
}

/** A number, or an object with one; {@link budgetOf} looks at the number. */
const counted =
  (rules: Parameters<typeof object>[0]): Rule<unknown> =>
  (name) => {
    const check = object({ count: given, ...rules })(name);
    return (value) => (typeof value === 'number' ? value : check(value));
  };

/** What the faults of a scenario may say. */
export const faultRules = {
  crashes: given,
  restarts: optional(counted({ pid: optional(oneOf('another', 'same', 'either')) })),
  lostReplies: given,
  failures: optional(counted({ errors: optional(list(callable)) })),
  diskFull: given,
  clockJumps: given,
  databaseClockJumps: given,
  jumpsMs: optional((name) => {
    const check = list(amount)(name);
    return (value) => (value === 'expiries' ? value : check(value));
  }),
  timePasses: given,
  timers: given,
  skewMs: optional(by(checkObject)),
} satisfies Readonly<Record<keyof Faults, Rule<unknown>>>;

/** The kinds of fault that have a budget and are counted in `Report.faultsMet`. */
export type FaultKind =
  | 'crashes'
  | 'restarts'
  | 'lostReplies'
  | 'failures'
  | 'diskFull'
  | 'clockJumps'
  | 'databaseClockJumps'
  | 'timePasses';

/** All kinds of fault, in the order of reports. */
export const faultKinds: readonly FaultKind[] = Object.freeze([
  'crashes',
  'restarts',
  'lostReplies',
  'failures',
  'diskFull',
  'clockJumps',
  'databaseClockJumps',
  'timePasses',
]);

/** What is left of each budget; `timers` too. */
export type Budget = Record<FaultKind | 'timers', number>;

const count = (fault: number | { readonly count: number } | undefined) =>
  typeof fault === 'object' ? fault.count : (fault ?? 0);

/** The budget of a schedule's beginning. */
export function budgetOf(faults: Faults): Budget {
  const budget: Budget = {
    crashes: count(faults.crashes),
    restarts: count(faults.restarts),
    lostReplies: count(faults.lostReplies),
    failures: count(faults.failures),
    diskFull: count(faults.diskFull),
    clockJumps: count(faults.clockJumps),
    databaseClockJumps: count(faults.databaseClockJumps),
    timePasses: faults.timePasses ?? 2,
    timers: faults.timers ?? 8,
  };
  for (const [kind, number] of Object.entries(budget)) {
    if (!Number.isSafeInteger(number) || number < 0) {
      throw new RangeError(`Scenario.faults.${kind} must be a whole number of 0 or more, not ${String(number)}`);
    }
  }
  return budget;
}

/** Kinds that the scenario itself asks for: what every scenario has need not be met. */
export const demanded = (faults: Faults, kind: FaultKind): boolean =>
  budgetOf(faults)[kind] > 0 && (kind !== 'timePasses' || faults.timePasses !== undefined);
