import {
  type Holder,
  heartbeatOnly,
  type Judgement,
  judge,
  type Observation,
  type ProcessIdentity,
  type ProcessSighting,
  processAndHeartbeat,
  singleProcess,
} from 'transition-ownership';
import { describe, expect, test } from 'vitest';

const NOW_MS = 1_000_000;
const TTL_MS = 30_000;

const self: ProcessIdentity = { bootId: 'boot-me', pid: 64, start: 'start-me', host: 'host-me' };
const mine = { bootId: self.bootId, pid: self.pid, start: self.start, host: self.host };
const neighbour = { bootId: 'boot-other', pid: 65, start: 'start-65', host: self.host };
const elsewhere = { ...neighbour, host: 'host-other' };

const holding = (parts: Partial<Holder> = {}): Holder => ({
  taskId: 1,
  fencingToken: 7,
  claim: 'claim',
  actor: 'monitor',
  ...elsewhere,
  runId: null,
  stage: null,
  acquiredAtMs: NOW_MS - 10_000,
  expiresAtMs: NOW_MS + 20_000,
  ttlMs: TTL_MS,
  deadlineAtMs: NOW_MS + 3_600_000,
  ...parts,
});

const mustNotLook = (): ProcessSighting => {
  throw new Error('a pid was looked up whose answer cannot count');
};

const seeing = (parts: Partial<Observation> = {}): Observation => ({
  nowMs: NOW_MS,
  self,
  registered: 'no',
  unchangedForMs: 0,
  sight: mustNotLook,
  ...parts,
});

const sight = (state: ProcessSighting['state'], start: string | null = null) => ({ sight: () => ({ state, start }) });

interface Row {
  readonly evidence: string;
  readonly holder: Partial<Holder>;
  readonly seen?: Partial<Observation>;
  readonly says: Judgement;
}

/** The truth table of page "who is alive", row by row: each holder also has the evidence of rows further down. */
const table: readonly Row[] = [
  {
    evidence: 'past its deadline, though its expiry is far off and its claim is in use here',
    holder: { ...mine, deadlineAtMs: NOW_MS - 1 },
    seen: { registered: 'yes' },
    says: { verdict: 'dead', reason: 'over-budget' },
  },
  {
    evidence: 'exactly at its deadline',
    holder: { ...mine, deadlineAtMs: NOW_MS },
    seen: { registered: 'yes' },
    says: { verdict: 'dead', reason: 'over-budget' },
  },
  {
    evidence: 'past its deadline and its expiry: the deadline is named, for it wants an alert',
    holder: { deadlineAtMs: NOW_MS - 1, expiresAtMs: NOW_MS - 1 },
    says: { verdict: 'dead', reason: 'over-budget' },
  },
  {
    evidence: 'past its deadline, with an expiry that nobody can read',
    holder: { deadlineAtMs: NOW_MS - 1, expiresAtMs: null },
    says: { verdict: 'dead', reason: 'over-budget' },
  },
  {
    evidence: 'past its expiry, though its pid is there with the same start mark',
    holder: { ...neighbour, expiresAtMs: NOW_MS - 1 },
    seen: sight('exists', neighbour.start),
    says: { verdict: 'dead', reason: 'expired' },
  },
  {
    evidence: 'exactly at its expiry',
    holder: { expiresAtMs: NOW_MS },
    says: { verdict: 'dead', reason: 'expired' },
  },
  {
    evidence: 'past its expiry, though its claim is in use in this very process',
    holder: { ...mine, expiresAtMs: NOW_MS - 1 },
    seen: { registered: 'yes' },
    says: { verdict: 'dead', reason: 'expired' },
  },
  {
    evidence: 'past its expiry, without a deadline',
    holder: { expiresAtMs: NOW_MS - 1, deadlineAtMs: null },
    says: { verdict: 'dead', reason: 'expired' },
  },
  {
    evidence: 'an expiry later than its own TTL from now, and its pid is gone: that needs no clock',
    holder: { ...neighbour, expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: sight('gone'),
    says: { verdict: 'dead', reason: 'process-gone' },
  },
  {
    evidence: 'such an expiry, and its pid is another process by now',
    holder: { ...neighbour, expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: sight('exists', 'start-later'),
    says: { verdict: 'dead', reason: 'pid-reused' },
  },
  {
    evidence: 'such an expiry, and its process is alive',
    holder: { ...neighbour, expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: { ...sight('exists', 'start-65'), unchangedForMs: TTL_MS },
    says: { verdict: 'live', reason: 'process-alive' },
  },
  {
    evidence: 'such an expiry of my own claim, in use',
    holder: { ...mine, expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: { registered: 'yes' },
    says: { verdict: 'live', reason: 'claim-registered' },
  },
  {
    evidence: 'such an expiry of my own claim, in use no more',
    holder: { ...mine, expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: { registered: 'no' },
    says: { verdict: 'dead', reason: 'orphaned' },
  },
  {
    evidence: 'such an expiry of my own claim that is not seen committed: times alone',
    holder: { ...mine, expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: { registered: 'provisional' },
    says: { verdict: 'live', reason: 'clock-set-back' },
  },
  {
    evidence: 'an expiry later than its own TTL from now, and nothing else is known',
    holder: { expiresAtMs: NOW_MS + TTL_MS + 1 },
    says: { verdict: 'live', reason: 'clock-set-back' },
  },
  {
    evidence: 'such an expiry, seen unchanged for one millisecond less than the TTL',
    holder: { expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: { unchangedForMs: TTL_MS - 1 },
    says: { verdict: 'live', reason: 'clock-set-back' },
  },
  {
    evidence: 'such an expiry, seen unchanged for exactly the TTL',
    holder: { expiresAtMs: NOW_MS + TTL_MS + 1 },
    seen: { unchangedForMs: TTL_MS },
    says: { verdict: 'dead', reason: 'expired' },
  },
  {
    evidence: 'an expiry exactly its TTL from now is what a renewal has just written',
    holder: { expiresAtMs: NOW_MS + TTL_MS },
    seen: { unchangedForMs: TTL_MS * 10 },
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'my claim, in use',
    holder: mine,
    seen: { registered: 'yes' },
    says: { verdict: 'live', reason: 'claim-registered' },
  },
  {
    evidence: 'my claim, written in a transaction that is not seen committed: times alone',
    holder: mine,
    seen: { registered: 'provisional' },
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'my identity, its claim not in use',
    holder: mine,
    says: { verdict: 'dead', reason: 'orphaned' },
  },
  {
    evidence: 'the pid of my host scope gone (ESRCH)',
    holder: neighbour,
    seen: sight('gone'),
    says: { verdict: 'dead', reason: 'process-gone' },
  },
  {
    evidence: 'a pid of my host scope gone, whose start mark was never known',
    holder: { ...neighbour, start: null },
    seen: sight('gone'),
    says: { verdict: 'dead', reason: 'process-gone' },
  },
  {
    evidence: 'that pid exists with another start mark',
    holder: neighbour,
    seen: sight('exists', 'start-of-a-stranger'),
    says: { verdict: 'dead', reason: 'pid-reused' },
  },
  {
    evidence: 'that pid exists with the same start mark',
    holder: neighbour,
    seen: sight('exists', neighbour.start),
    says: { verdict: 'live', reason: 'process-alive' },
  },
  {
    evidence: 'that pid exists (EPERM) and its start mark cannot be read',
    holder: neighbour,
    seen: sight('exists', null),
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'that pid exists and the row has no start mark',
    holder: { ...neighbour, start: null },
    seen: sight('exists', 'start-65'),
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'the probe of that pid failed',
    holder: neighbour,
    seen: sight('unknown', 'start-of-a-stranger'),
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'another host, whose pid is not looked up here',
    holder: elsewhere,
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'no host, so its pid means nothing here',
    holder: { ...neighbour, host: null },
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'no pid',
    holder: { ...neighbour, pid: null },
    says: { verdict: 'live', reason: 'unexpired' },
  },
  {
    evidence: 'an expiry that cannot be read: not dead, and not known to be alive',
    holder: { ...neighbour, expiresAtMs: null },
    seen: sight('gone'),
    says: { verdict: 'unknown', reason: 'unreadable' },
  },
  {
    evidence: 'a TTL that cannot be read',
    holder: { ttlMs: null },
    says: { verdict: 'unknown', reason: 'unreadable' },
  },
];

describe('judge finds in this order', () => {
  test.each(table)('$evidence: $says.verdict, $says.reason', ({ holder, seen, says }) => {
    expect(judge(holding(holder), seeing(seen), processAndHeartbeat())).toEqual(says);
  });
});

describe('judge takes for its own process only one that', () => {
  test.each(['bootId', 'pid', 'start', 'host'] as const)('has the same %s', (part) => {
    const other = { ...mine, [part]: part === 'pid' ? 63 : 'another' };
    const judged = judge(holding(other), seeing(sight('unknown')), processAndHeartbeat());
    expect(judged.reason).not.toBe('orphaned');
    expect(judged.verdict).toBe('live');
  });

  test('has no readable start mark either, where this one has none', () => {
    const unmarked = { ...self, start: null };
    const judged = judge(holding({ ...mine, start: null }), seeing({ self: unmarked }), processAndHeartbeat());
    expect(judged).toEqual({ verdict: 'dead', reason: 'orphaned' });
  });
});

describe('evidence of a pid ends a lease early and never keeps one', () => {
  test.each(['gone', 'exists', 'unknown'] as const)('an expired lease is dead, its pid being %s', (state) => {
    const judged = judge(
      holding({ ...neighbour, expiresAtMs: NOW_MS - 1 }),
      seeing(sight(state)),
      processAndHeartbeat(),
    );
    expect(judged.verdict).toBe('dead');
  });
});

describe('heartbeatOnly', () => {
  test.each([
    ['a pid of this host that is gone', neighbour],
    ['my identity without my claim', mine],
  ])('trusts %s until it expires', (_, holder) => {
    expect(judge(holding(holder), seeing(sight('gone')), heartbeatOnly())).toEqual({
      verdict: 'live',
      reason: 'unexpired',
    });
  });

  test('still ends at expiry and deadline', () => {
    expect(judge(holding({ expiresAtMs: NOW_MS }), seeing(), heartbeatOnly()).reason).toBe('expired');
    expect(judge(holding({ deadlineAtMs: NOW_MS }), seeing(), heartbeatOnly()).reason).toBe('over-budget');
  });
});

describe('singleProcess', () => {
  const judged = (holder: Partial<Holder>, seen: Partial<Observation> = {}) =>
    judge(holding(holder), seeing(seen), singleProcess());

  test('calls any other boot dead at once, without a look at its pid', () => {
    expect(judged(neighbour)).toEqual({ verdict: 'dead', reason: 'another-boot' });
    expect(judged(elsewhere)).toEqual({ verdict: 'dead', reason: 'another-boot' });
    expect(judged({ ...mine, bootId: null })).toEqual({ verdict: 'dead', reason: 'another-boot' });
  });

  test('trusts its own claims and calls its orphans dead', () => {
    expect(judged(mine, { registered: 'yes' })).toEqual({ verdict: 'live', reason: 'claim-registered' });
    expect(judged(mine)).toEqual({ verdict: 'dead', reason: 'orphaned' });
  });
});

describe('a judge of your own', () => {
  const lenient = { name: 'lenient', judge: () => ({ verdict: 'live', reason: 'unexpired' }) as const };

  test('is asked for a row that its times do not decide', () => {
    expect(judge(holding(mine), seeing(), lenient).verdict).toBe('live');
  });

  test('cannot keep a lease past its expiry or its deadline', () => {
    expect(judge(holding({ expiresAtMs: NOW_MS }), seeing(), lenient).verdict).toBe('dead');
    expect(judge(holding({ deadlineAtMs: NOW_MS }), seeing(), lenient).verdict).toBe('dead');
  });
});

test('judge, processAndHeartbeat, heartbeatOnly and singleProcess are frozen and named', () => {
  const strategies = [processAndHeartbeat(), heartbeatOnly(), singleProcess()];
  expect(strategies.map(({ name }) => name)).toEqual(['process-and-heartbeat', 'heartbeat-only', 'single-process']);
  expect(strategies.every(Object.isFrozen)).toBe(true);
  expect(Object.isFrozen(judge(holding(), seeing(), processAndHeartbeat()))).toBe(true);
});
