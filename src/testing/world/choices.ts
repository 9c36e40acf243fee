import type { Choice } from './choice.js';
import { expiriesIn } from './expiries.js';
import type { Incarnation } from './incarnation.js';
import type { Parked } from './parked.js';
import type { WorldState } from './state.js';

/** A point and the process that is parked there. */
interface Ready {
  readonly by: Incarnation;
  readonly parked: Parked;
}

/** Everything that may happen next, in a stable order: going on, then faults of statements, lives, clock and disk. */
export function choicesOf<DB>(state: WorldState<DB>): Choice[] {
  const { budget, processes } = state;
  const ready = readyPoints(state);
  const choices: Choice[] = ready.map((each) => ({ kind: 'step', id: `s${idOf(each)}`, ...each }));
  choices.push(...passingTime(state, ready.length > 0));
  for (const each of ready) choices.push(...statementFaults(each, state));
  for (const each of processes) choices.push(...lifeFaults(each, state));
  if (processes.some((each) => each.alive)) {
    if (budget.clockJumps > 0) {
      for (const toMs of jumpTargets(state)) choices.push({ kind: 'jump', id: `j${toMs}`, toMs });
    }
    if (budget.databaseClockJumps > 0) {
      for (const toMs of jumpTargets(state)) choices.push({ kind: 'database-jump', id: `b${toMs}`, toMs });
    }
    if (state.diskIsFull) choices.push({ kind: 'disk-healed', id: 'dh' });
    else if (budget.diskFull > 0) choices.push({ kind: 'disk-full', id: 'df' });
  }
  return choices;
}

const idOf = ({ by, parked }: Ready) => `${by.index}.${parked.id}`;

function readyPoints<DB>({ processes, last, nowMs, version, budget }: WorldState<DB>): Ready[] {
  const inOrder = [...processes].sort((a, b) => Number(b.index === last) - Number(a.index === last));
  return inOrder.flatMap((by) =>
    by.pending
      .filter(
        (parked) =>
          parked.blockedAt !== version &&
          (parked.wakeMs === undefined || parked.wakeMs <= nowMs) &&
          (parked.kind !== 'timer' || budget.timers > 0),
      )
      .map((parked) => ({ by, parked })),
  );
}

/**
 * When all that is left is asleep, time passes to the first that wakes; that is no fault. It may also pass while others
 * could go on: for a sleeper or a timer that something waits for, and as often as there is a budget for it.
 */
function* passingTime<DB>(state: WorldState<DB>, othersGoOn: boolean): Iterable<Choice> {
  const { processes, nowMs, budget, scenario } = state;
  const wakes = processes
    .flatMap((each) => each.pending)
    .filter((parked) => parked.kind === 'sleep' || (parked.kind === 'timer' && budget.timers > 0))
    .filter((parked) => !(othersGoOn && parked.background))
    .map((parked) => parked.wakeMs ?? nowMs)
    .filter((wakeMs) => wakeMs > nowMs);
  if (wakes.length === 0) return;
  const toMs = Math.min(...wakes);
  if (!othersGoOn) yield { kind: 'advance', id: `a${toMs}`, toMs };
  else if (budget.timePasses > 0) yield { kind: 'time-passes', id: `w${toMs}`, toMs };
  else if (scenario.faults?.timePasses === 0) state.timeWasIdle = true;
}

function* statementFaults<DB>(ready: Ready, { budget, scenario, store }: WorldState<DB>): Iterable<Choice> {
  const { parked } = ready;
  if (parked.kind !== 'sql' && parked.kind !== 'effect') return;
  if (budget.lostReplies > 0) yield { kind: 'lost-reply', id: `l${idOf(ready)}`, ...ready };
  // A rollback that fails is a connection that breaks, and that rolls back too.
  if (budget.failures <= 0 || parked.label.startsWith('rollback')) return;
  const failures = typeof scenario.faults?.failures === 'object' ? scenario.faults.failures.errors : undefined;
  for (const [at, error] of (failures ?? [() => store.errors.failed()]).entries()) {
    yield { kind: 'failure', id: `f${idOf(ready)}.${at}`, ...ready, error };
  }
}

function* lifeFaults<DB>(victim: Incarnation, { budget, scenario }: WorldState<DB>): Iterable<Choice> {
  if (victim.alive) {
    if (budget.crashes > 0) yield { kind: 'kill', id: `k${victim.index}`, victim };
    return;
  }
  if (victim.state !== 'killed' || budget.restarts <= 0) return;
  const { restarts } = scenario.faults ?? {};
  const pid = typeof restarts === 'object' ? (restarts.pid ?? 'either') : 'either';
  if (pid !== 'same') yield { kind: 'restart', id: `r${victim.index}`, victim, samePid: false };
  if (pid !== 'another') yield { kind: 'restart', id: `p${victim.index}`, victim, samePid: true };
}

/** Just below, exactly at and just past each expiry: a jump to anywhere else tells nothing that these do not. */
function jumpTargets<DB>(state: WorldState<DB>): number[] {
  const { scenario, nowMs, databaseAheadMs, processes } = state;
  const { jumpsMs } = scenario.faults ?? {};
  if (Array.isArray(jumpsMs)) return jumpsMs.map((ms: number) => nowMs + ms);
  const expiries = scenario.expiries?.(state) ?? expiriesIn(state.snapshot);
  const around = expiries.flatMap((expiryMs) => [-1, 0, 1].map((ms) => expiryMs - databaseAheadMs + ms));
  const wakes = processes.flatMap((each) => each.pending).map((parked) => parked.wakeMs ?? nowMs);
  const ahead = [...around, ...wakes].filter((atMs) => Number.isFinite(atMs) && atMs > nowMs);
  return [...new Set(ahead)].sort((a, b) => a - b);
}
