import { describe, expect, test } from 'vitest';
import {
  dialectSuite,
  type Failure,
  memoryStore,
  type RuleId,
  type Runner,
  type TestStore,
} from '../../src/testing/index.js';
import { rewritingStore } from '../../src/testing/suite/rewriting-store.js';
import { readOnlyOnceFull, respelling, tearing } from './broken-stores.js';

/** Collects the tests of the suite over a store, and runs those that are named: what does each say? */
async function verdicts(
  rules: readonly RuleId[],
  store: () => TestStore,
  {
    expectFailures = {},
    maxSchedules = 150,
  }: { readonly expectFailures?: Partial<Record<RuleId, string>>; readonly maxSchedules?: number } = {},
): Promise<Record<string, string>> {
  const tests = new Map<string, () => Promise<void>>();
  const endings: (() => Promise<void>)[] = [];
  const runner: Runner = {
    describe: (_name, define) => define(),
    test: (name, run) => void tests.set(name, run),
    afterAll: (run) => void endings.push(run),
  };
  dialectSuite(runner, {
    store,
    level: { maxSchedules },
    expectFailures,
  });
  const said: Record<string, string> = {};
  for (const [name, run] of tests) {
    if (!rules.some((rule) => name.startsWith(rule))) continue;
    said[name] = await run().then(
      () => 'holds',
      (error: unknown) => (error as Partial<Failure>).violated ?? String(error),
    );
  }
  for (const end of endings) await end();
  return said;
}

const all: readonly RuleId[] = [
  'R1-token-granted-once',
  'R2-no-takeover-before-expiry',
  'R3-takeover-at-expiry',
  'R4-stale-write-refused',
  'R5-cas-once',
  'R6-linearizable',
  'R7-crash-anywhere-recovers',
  'R8-lost-reply-is-known-again',
  'R9-disk-full-is-clean',
  'R10-tasks-independent',
];

describe('dialectSuite', { timeout: 120_000 }, () => {
  test('proves all ten rules in memory', async () => {
    expect(await verdicts(all, memoryStore, { maxSchedules: 60 })).toEqual(
      Object.fromEntries(all.map((rule) => [rule, 'holds'])),
    );
  });

  const broken: readonly [title: string, rule: RuleId, rewrite: (sql: string) => string][] = [
    [
      'an insert that does not mind a conflict',
      'R1-token-granted-once',
      (sql) =>
        sql.replace(
          /^insert into (.*) where (not exists \(.*?\))(.*) on conflict \([^)]*\) do nothing/s,
          'insert into $1 where (1 = 1 or $2)$3',
        ),
    ],
    [
      'a clock that runs ahead for readers',
      'R2-no-takeover-before-expiry',
      (sql) => sql.replace(/simulated_now_ms\(\) as now_ms(?=\s+from \(select)/, 'simulated_now_ms() + 1 as now_ms'),
    ],
    [
      'a clock that lags for readers',
      'R3-takeover-at-expiry',
      (sql) => sql.replace(/simulated_now_ms\(\) as now_ms(?=\s+from \(select)/, 'simulated_now_ms() - 1 as now_ms'),
    ],
    [
      'a stage write without its fence',
      'R4-stale-write-refused',
      (sql) => sql.replace(/and exists \([^)]*\)/, 'and (1 = 1 or ? = ?)'),
    ],
    [
      'a compare-and-swap that does not compare',
      'R5-cas-once',
      (sql) => sql.replace('"stage" is ? collate binary', '? is not null'),
    ],
    [
      'a release of whatever lease is there',
      'R6-linearizable',
      (sql) => sql.replace(/"task_id" = \? and "claim" = \?(?=\s+returning)/, '"task_id" = ? and ? is not null'),
    ],
    [
      'an update of every task',
      'R10-tasks-independent',
      (sql) =>
        sql.replace(
          'update "simulated_task" set "stage" = ? where "id" = ?',
          'update "simulated_task" set "stage" = ? where ? is not null',
        ),
    ],
  ];

  test.each(broken)('notices %s by %s', async (_title, rule, rewrite) => {
    const said = await verdicts([rule], () => rewritingStore(memoryStore(), rewrite), { maxSchedules: 1_500 });
    expect(Object.keys(said)).toEqual([rule]);
    expect(said[rule]).not.toBe('holds');
    expect(said[rule]).not.toMatch(/^\w*Error/);
  });

  const faulty: readonly [title: string, store: () => TestStore, reasons: Partial<Record<RuleId, string>>][] = [
    [
      'tears what a dying connection wrote',
      tearing,
      {
        'R7-crash-anywhere-recovers': 'the task gets to its stage',
        'R3-takeover-at-expiry': 'exactly one stage writer',
      },
    ],
    [
      'spells a claim otherwise for its own inserter',
      respelling,
      { 'R8-lost-reply-is-known-again': 'nobody is kept out by a lease of its own' },
    ],
    [
      'stays read-only once its disk was full',
      readOnlyOnceFull,
      { 'R9-disk-full-is-clean': 'attempt to write a readonly database' },
    ],
  ];

  test.each(faulty)('notices a database that %s by the rules for that alone', async (_title, store, reasons) => {
    const holding = Object.fromEntries(all.map((each) => [each, 'holds']));
    const broken = Object.entries(reasons).map(([rule, reason]) => [rule, expect.stringContaining(reason) as unknown]);
    expect(await verdicts(all, store, { maxSchedules: 400 })).toEqual({ ...holding, ...Object.fromEntries(broken) });
  });

  test('lets a known weakness be named, and complains once it is gone', async () => {
    const weak = () =>
      rewritingStore(memoryStore(), (sql) => sql.replace('"stage" is ? collate binary', '? is not null'));
    const expectFailures = { 'R5-cas-once': 'our database cannot compare' };
    expect(await verdicts(['R5-cas-once'], weak, { expectFailures })).toEqual({
      'R5-cas-once does not hold: our database cannot compare': 'holds',
    });
    const mended = await verdicts(['R5-cas-once'], memoryStore, { expectFailures });
    expect(Object.values(mended)[0]).toMatch(/expected to fail .* and it holds/);
  });
});
