import { object, oneOf, type Rule } from '../../core/request.js';
import { explore } from '../search/explore.js';
import { assertHolds, type Bounds, boundsRules } from '../search/report.js';
import type { TestStore } from '../store/store.js';
import type { Scenario } from '../world/scenario.js';

/** What a suite needs of a test runner: vitest, jest and node:test all have it, and so does what you write yourself. */
export interface Runner {
  /** Groups tests. */
  describe(name: string, define: () => void): unknown;
  /** Defines a test; `timeoutMs` as vitest and jest take it. node:test reads no third argument, and knows no limit. */
  test(name: string, run: () => Promise<void>, timeoutMs?: number): unknown;
  /** Not called: it is here so that what a runner has can be handed over whole. */
  beforeAll?(run: () => Promise<void>): unknown;
  /** Runs once after the tests of the group. */
  afterAll?(run: () => Promise<void>): unknown;
  /** What node:test calls `afterAll`. */
  after?(run: () => Promise<void>): unknown;
  /** Takes a line on how far a rule that holds was looked at. Default: standard output. */
  note?(line: string): unknown;
}

/** How thorough a suite is: `quick` for every commit, `full` for every night, or bounds of your own. */
export type Level = 'quick' | 'full' | Bounds;

/** The rule for a level. */
export const levelRule: Rule<unknown> = (name) => {
  const checkOther = object(boundsRules)(name);
  const checkWord = oneOf('quick', 'full')(name);
  return (value) => (typeof value === 'object' ? checkOther(value) : checkWord(value));
};

/** The bounds of a level, and whether a search that they stop fails. */
export function boundsOf(level: Level): {
  readonly bounds: Bounds;
  readonly complete: boolean;
  readonly timeoutMs: number;
} {
  if (level === 'full') return { bounds: { maxMs: 600_000 }, complete: true, timeoutMs: 630_000 };
  if (level === 'quick') return { bounds: { maxMs: 5_000 }, complete: false, timeoutMs: 60_000 };
  return { bounds: level, complete: false, timeoutMs: (level.maxMs ?? 60_000) + 30_000 };
}

/** Runs something once after all tests of the group. */
export function afterAll(runner: Runner, run: () => Promise<void>): void {
  if (runner.afterAll !== undefined) runner.afterAll(run);
  else runner.after?.(run);
}

/** Explores a scenario as far as a level goes, and throws what it finds; what is right says in one line how far that was. */
export async function examine<DB>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  { title, level, runner }: { readonly title: string; readonly level: Level; readonly runner: Runner },
): Promise<void> {
  const { bounds, complete } = boundsOf(level);
  const report = await explore(store, scenario, bounds);
  assertHolds(report, { complete });
  const note = [`${title}: ${report.covered}`, ...report.warnings].join('\n  ');
  if (runner.note === undefined) process.stdout.write(`${note}\n`);
  else runner.note(note);
}
