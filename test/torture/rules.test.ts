import { expect, test } from 'vitest';
import type { Evidence } from './evidence.js';
import type { Logged } from './outside.js';
import { rules } from './rules.js';
import type { HistoryRow } from './tables.js';

/** A row of the history: whatever is not named is empty. */
function row(seq: number, kind: HistoryRow['kind'], more: Partial<HistoryRow> = {}): HistoryRow {
  return {
    seq,
    kind,
    at_ms: 1_000 + seq,
    subject: 1,
    token: null,
    claim: null,
    pid: null,
    was: null,
    is_now: null,
    round: null,
    expires_ms: null,
    ttl_ms: null,
    deadline_ms: null,
    owned: null,
    ...more,
  };
}

const lease = (token: number) => ({
  token,
  claim: `claim ${token}`,
  expires_ms: 1_100,
  ttl_ms: 100,
  deadline_ms: 1_500,
});
const toDone = { was: 'deploy', is_now: 'done', round: 1 };
const toDeploy = { was: 'done', is_now: 'deploy', round: 2 };
const line = (token: number, askedAt: number | null, at: number, key = 'round 0'): Logged => ({
  task: 1,
  key,
  token,
  pid: 7,
  askedAt,
  at,
});

/** Two transitions as they should be; the second began after an operator took the first lease back. */
const good: Evidence = {
  history: [
    row(1, 'granted', lease(5)),
    row(2, 'renewed', lease(5)),
    row(3, 'job', { was: 'running', is_now: 'queued', owned: 0 }),
    row(4, 'stage', { token: 5, ...toDone }),
    row(5, 'ended', lease(5)),
    row(6, 'granted', lease(6)),
    row(7, 'stage', { token: 6, ...toDeploy }),
    row(8, 'ended', lease(6)),
  ],
  effects: [line(5, 0, 0), line(6, 50, 50, 'round 1')],
  jobs: [{ id: 1, status: 'queued', owned: false }],
  held: [],
  unsettled: [],
};

const historyWith = (...rows: HistoryRow[]): Evidence => ({ ...good, history: [...good.history, ...rows] });

/** The same history with some rows left out or put in place of others. */
const historyAs = (change: (row: HistoryRow) => readonly HistoryRow[]): Evidence => ({
  ...good,
  history: good.history.flatMap(change),
});

const broken: Readonly<Record<string, readonly (readonly [breach: string, evidence: Evidence])[]>> = {
  'one stage writer for each token, and only while its lease is there': [
    ['task 1: stage by token 6 while nobody held it', historyWith(row(9, 'stage', { token: 6, ...toDone, round: 3 }))],
    [
      'task 1: stage by token 5 while 7 held it',
      historyWith(row(9, 'granted', lease(7)), row(10, 'stage', { token: 5, ...toDone, round: 3 })),
    ],
    ['task 1: token 5 wrote the stage twice', historyAs((each) => (each.seq === 4 ? [each, each] : [each]))],
    ['task 1: token 6 was granted while 5 held it', historyAs((each) => (each.seq === 5 ? [] : [each]))],
    ['task 1: renewed by token 6 while nobody held it', historyWith(row(9, 'renewed', lease(6)))],
    [
      'task 1: ended by token 8 while 8 held it',
      historyWith(row(9, 'granted', lease(8)), row(10, 'ended', { ...lease(8), claim: 'another' })),
    ],
  ],
  'the stages of a task follow each other': [
    [
      'task 1: write 2 went from done to deploy, round 1',
      historyAs((each) => [each.seq === 7 ? { ...each, round: 1 } : each]),
    ],
    [
      'task 1: write 2 went from done to done, round 2',
      historyAs((each) => [each.seq === 7 ? { ...each, is_now: 'done' } : each]),
    ],
  ],
  'no effect is repeated without an unknown outcome in between': [
    ['task 1, round 0: token 5 applied it twice', { ...good, effects: [line(5, 0, 0), line(5, 0, 50)] }],
    ['task 1, round 0: token 5 applied it and had not asked', { ...good, effects: [line(5, null, 0)] }],
    [
      'task 1, round 0: token 6 applied it again although it was told',
      { ...good, effects: [line(5, 0, 0), line(6, 50, 50)] },
    ],
  ],
  'no stage is left before its effect took place': [
    ['task 1: round 2 began without the effect before it', { ...good, effects: [line(5, 0, 0)] }],
  ],
  'no queued job names a run': [
    ['job 1 was queued with a run', historyAs((each) => [each.kind === 'job' ? { ...each, owned: 1 } : each])],
    ['job 1 is queued and names a run', { ...good, jobs: [{ id: 1, status: 'queued', owned: true }] }],
  ],
  'no lease past its bound': [
    [
      'token 5 was granted for longer than its TTL',
      historyAs((each) => [each.seq === 1 ? { ...each, expires_ms: 1_103 } : each]),
    ],
    [
      'token 5 was renewed past its deadline',
      historyAs((each) => [each.seq === 2 ? { ...each, deadline_ms: 1_099 } : each]),
    ],
    [
      'token 5 was granted past its deadline',
      historyAs((each) => [each.seq === 1 ? { ...each, deadline_ms: null } : each]),
    ],
  ],
  'tokens only grow': [
    ['task 1: token 6 was granted twice', historyWith(row(9, 'granted', lease(6)))],
    ['task 1: token 5 was granted before a smaller token was asked for', historyWith(row(9, 'granted', lease(4)))],
    [
      'task 1: one claim was granted as token 5 and 9',
      historyWith(row(9, 'granted', { ...lease(9), claim: 'claim 5' })),
    ],
  ],
  'everything ends: no job runs, no task is held, no effect is in doubt': [
    ['job 1 still runs', { ...good, jobs: [{ id: 1, status: 'running', owned: true }] }],
    ['task 1 is still held', { ...good, held: [1] }],
    ['task 1 has an effect that nobody can tell about', { ...good, unsettled: [1] }],
  ],
};

test('the rules of a torture find nothing wrong with a good run', () => {
  expect(rules.map(({ breaches }) => [...breaches(good)])).toEqual(rules.map(() => []));
});

test('an effect that two were in the middle of may have taken place twice', () => {
  const overlapping = { ...good, effects: [...good.effects, line(7, 0, 100)] };
  expect(rules.flatMap(({ breaches }) => [...breaches(overlapping)])).toEqual([]);
});

test('a claim that nobody lived by may be granted again', () => {
  const again = historyWith(
    row(9, 'granted', lease(9)),
    row(10, 'ended', lease(9)),
    row(11, 'granted', { ...lease(10), claim: 'claim 9' }),
    row(12, 'ended', { ...lease(10), claim: 'claim 9' }),
  );
  expect(rules.flatMap(({ breaches }) => [...breaches(again)])).toEqual([]);
});

for (const { title, breaches } of rules) {
  test.each(broken[title] ?? [])(`the rule "${title}" finds: %s`, (breach, evidence) => {
    expect([...breaches(evidence)]).toContain(breach);
  });
}

test('every rule has a breach that it must find', () => {
  expect(Object.keys(broken)).toEqual(rules.map(({ title }) => title));
});
