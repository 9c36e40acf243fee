import { checkTokenOrder, type LeaseInput, type LeaseOutput, type Operation } from 'transition-ownership/testing';
import type { Evidence } from './evidence.js';
import type { Logged } from './outside.js';
import type { HistoryRow } from './tables.js';

/** Something that must be true of every run; it answers a sentence for each breach. */
export interface Rule {
  readonly title: string;
  readonly breaches: (evidence: Evidence) => Iterable<string>;
}

/** What a run is judged by. */
export const rules: readonly Rule[] = [
  { title: 'one stage writer for each token, and only while its lease is there', breaches: writers },
  { title: 'the stages of a task follow each other', breaches: stages },
  { title: 'no effect is repeated without an unknown outcome in between', breaches: repeats },
  { title: 'no stage is left before its effect took place', breaches: effectless },
  { title: 'no queued job names a run', breaches: queuedRuns },
  { title: 'no lease past its bound', breaches: bounds },
  { title: 'tokens only grow', breaches: tokens },
  { title: 'everything ends: no job runs, no task is held, no effect is in doubt', breaches: leftovers },
];

/** The rows of some kinds, by what they are about, in the order of the commits. */
function bySubject({ history }: Evidence, kinds: readonly HistoryRow['kind'][]): Map<number, HistoryRow[]> {
  const found = new Map<number, HistoryRow[]>();
  for (const row of history) {
    if (!kinds.includes(row.kind)) continue;
    const known = found.get(row.subject);
    if (known === undefined) found.set(row.subject, [row]);
    else known.push(row);
  }
  return found;
}

function* writers(evidence: Evidence): Iterable<string> {
  for (const [task, rows] of bySubject(evidence, ['granted', 'renewed', 'ended', 'stage'])) {
    const wrote = new Set<number | null>();
    let holder: HistoryRow | undefined;
    for (const row of rows) {
      if (row.kind === 'granted') {
        if (holder !== undefined) yield `task ${task}: token ${row.token} was granted while ${holder.token} held it`;
        holder = row;
        continue;
      }
      const mine = row.token === holder?.token && (row.kind === 'stage' || row.claim === holder?.claim);
      if (!mine) yield `task ${task}: ${row.kind} by token ${row.token} while ${holder?.token ?? 'nobody'} held it`;
      if (row.kind === 'ended') holder = undefined;
      if (row.kind !== 'stage') continue;
      if (wrote.has(row.token)) yield `task ${task}: token ${row.token} wrote the stage twice`;
      wrote.add(row.token);
    }
  }
}

function* stages(evidence: Evidence): Iterable<string> {
  for (const [task, rows] of bySubject(evidence, ['stage'])) {
    for (const [at, { was, is_now: isNow, round }] of rows.entries()) {
      if (was === isNow || round !== at + 1)
        yield `task ${task}: write ${at + 1} went from ${was} to ${isNow}, round ${round}`;
    }
  }
}

/**
 * An effect may take place again only if whoever repeats it had to ask, and asked before the other line was there:
 * somebody stood still in the middle of it. One who was told of it, or never asked, must not repeat it.
 */
function* repeats({ effects }: Evidence): Iterable<string> {
  for (const lines of byEffect(effects).values()) {
    for (const [at, line] of lines.entries()) {
      const before = lines.slice(0, at);
      const what = `task ${line.task}, ${line.key}: token ${line.token}`;
      if (before.some(({ token }) => token === line.token)) yield `${what} applied it twice`;
      if (line.askedAt === null) yield `${what} applied it and had not asked`;
      else if (before.some((other) => other.at < (line.askedAt ?? 0)))
        yield `${what} applied it again although it was told`;
    }
  }
}

function* effectless(evidence: Evidence): Iterable<string> {
  const effects = byEffect(evidence.effects);
  for (const [task, rows] of bySubject(evidence, ['stage'])) {
    for (const { round } of rows) {
      if (!effects.has(`${task} round ${(round ?? 0) - 1}`))
        yield `task ${task}: round ${round} began without the effect before it`;
    }
  }
}

/** The lines of the log by task and key. */
export function byEffect(effects: readonly Logged[]): Map<string, Logged[]> {
  const found = new Map<string, Logged[]>();
  for (const line of effects)
    found.set(`${line.task} ${line.key}`, [...(found.get(`${line.task} ${line.key}`) ?? []), line]);
  return found;
}

function* queuedRuns({ history, jobs }: Evidence): Iterable<string> {
  for (const { kind, subject, is_now: isNow, owned } of history) {
    if (kind === 'job' && isNow === 'queued' && owned === 1) yield `job ${subject} was queued with a run`;
  }
  for (const { id, status, owned } of jobs)
    if (status === 'queued' && owned) yield `job ${id} is queued and names a run`;
}

/** The library may round the database's time up, the history rounds it down. */
const ROUNDING_MS = 1;

function* bounds({ history }: Evidence): Iterable<string> {
  for (const { kind, token, at_ms: at, expires_ms: expires, ttl_ms: ttl, deadline_ms: deadline } of history) {
    if (kind !== 'granted' && kind !== 'renewed') continue;
    if (expires === null || ttl === null || expires > at + ttl + ROUNDING_MS)
      yield `token ${token} was ${kind} for longer than its TTL`;
    if (deadline === null || (expires ?? 0) > deadline) yield `token ${token} was ${kind} past its deadline`;
  }
}

function* tokens(evidence: Evidence): Iterable<string> {
  const { violations } = checkTokenOrder(evidence.history.flatMap(operationOf));
  yield* violations;
  const used = new Set(evidence.history.flatMap(({ kind, token }) => (/renewed|stage/.test(kind) ? [token] : [])));
  const grants = new Map<string | null, HistoryRow>();
  for (const row of evidence.history) {
    if (row.kind !== 'granted') continue;
    const former = grants.get(row.claim);
    // Trouble in an acquisition, or an operator in its midst, has it insert its claim again, if nobody lived by the first.
    if (former !== undefined && used.has(former.token))
      yield `task ${row.subject}: one claim was granted as token ${former.token} and ${row.token}`;
    grants.set(row.claim, row);
  }
}

/** A row as an operation on a lease, over in the instant of its commit. */
function operationOf({
  kind,
  seq,
  subject: taskId,
  token,
  was,
  is_now: isNow,
}: HistoryRow): Operation<LeaseInput, LeaseOutput>[] {
  if (kind === 'job' || token === null) return [];
  const at = { client: 'database', call: seq, ret: seq };
  switch (kind) {
    case 'granted':
      return [{ ...at, input: { verb: 'acquire', taskId, owner: '' }, output: { fencingToken: token } }];
    case 'renewed':
      return [{ ...at, input: { verb: 'renew', taskId, fencingToken: token }, output: true }];
    case 'ended':
      return [{ ...at, input: { verb: 'release', taskId, fencingToken: token }, output: true }];
    case 'stage':
      return [
        {
          ...at,
          input: { verb: 'write', taskId, fencingToken: token, expected: was, next: isNow ?? '' },
          output: true,
        },
      ];
  }
}

function* leftovers({ jobs, held, unsettled }: Evidence): Iterable<string> {
  for (const { id, status } of jobs) if (status === 'running') yield `job ${id} still runs`;
  for (const task of held) yield `task ${task} is still held`;
  for (const task of unsettled) yield `task ${task} has an effect that nobody can tell about`;
}
