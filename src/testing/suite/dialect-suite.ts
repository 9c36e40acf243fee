import { checkObject } from '../../core/check.js';
import { by, callable, given, optional, type Rule, requestOf } from '../../core/request.js';
import type { Dialect, DialectName } from '../../index.js';
import { Failure } from '../failure/failure.js';
import type { AnyTables, Awaitable, TestStore } from '../store/store.js';
import { dialectRules, type RuleId } from './dialect-rules.js';
import { afterAll, boundsOf, examine, type Level, levelRule, type Runner } from './runner.js';
import { openForSuite, type SuiteTables } from './suite-tables.js';

/** What `dialectSuite` is given. */
export interface DialectSuiteOptions<DB> {
  /** Makes the store: your database, over your Kysely dialect. */
  readonly store: () => Awaitable<TestStore<DB>>;
  /** The library's dialect for it. Default: told by how the store spells a parameter. */
  readonly dialect?: Dialect | DialectName;
  /** How thorough. Default: `quick`. */
  readonly level?: Level;
  /** Rules that are known not to hold, and why: such a test fails as soon as its rule does hold. */
  readonly expectFailures?: Partial<Readonly<Record<RuleId, string>>>;
}

const check = requestOf(
  {
    store: callable,
    dialect: given,
    level: optional(levelRule),
    expectFailures: optional(by(checkObject)),
  } satisfies Readonly<Record<keyof DialectSuiteOptions<AnyTables>, Rule<unknown>>>,
  'options',
);

/**
 * Defines tests that prove the library's promises on your database: one test for each rule, named after it.
 *
 * @param runner - Your test runner: `{ describe, test, afterAll }` of vitest or jest, `{ describe, test, after }` of node:test.
 * @param options - Your store, and how thorough.
 * @example
 * ```ts
 * import { dialectSuite, sqliteFileStore } from 'transition-ownership/testing';
 * import { runner } from './scenario.js'; // { describe, test, afterAll } of vitest or jest
 *
 * dialectSuite(runner, { store: () => sqliteFileStore(), level: 'full' });
 * ```
 */
export function dialectSuite<DB = AnyTables>(runner: Runner, options: DialectSuiteOptions<DB>): void {
  check(options);
  const { level = 'quick', dialect, expectFailures = {} } = options;
  const { timeoutMs } = boundsOf(level);
  let opened: Promise<TestStore<SuiteTables>> | undefined;
  const store = () => {
    opened ??= Promise.resolve(options.store())
      .then((made) => openForSuite(made, dialect))
      .then((made) => made as unknown as TestStore<SuiteTables>);
    return opened;
  };
  runner.describe('transition ownership on this database', () => {
    for (const [id, scenario] of Object.entries(dialectRules(dialect))) {
      const reason = expectFailures[id as RuleId];
      const examined = async () => examine(await store(), scenario, { title: id, level, runner });
      const run = reason === undefined ? examined : () => failing(examined, reason);
      runner.test(reason === undefined ? id : `${id} does not hold: ${reason}`, run, timeoutMs);
    }
    afterAll(runner, async () => (await opened)?.close());
  });
}

async function failing(run: () => Promise<void>, reason: string): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Failure) return;
    throw error;
  }
  throw new Error(`this rule is expected to fail (${reason}), and it holds: take it out of expectFailures`);
}
