import { expiriesIn } from './expiries.js';
import type { Budget, Faults } from './faults.js';
import type { Incarnation } from './incarnation.js';
import type { Choice, Parked } from './parked.js';
import type { Simulation } from './simulation.js';

/** What the list of choices is made from. */
interface Moment {
  readonly incarnations: readonly Incarnation[];
  readonly budget: Budget;
  readonly faults: Faults;
  readonly failed: () => Error;
  readonly nowMs: number;
  /** How far the clock of the database is ahead, in milliseconds. */
  readonly databaseAheadMs: number;
  readonly version: number;
  readonly diskIsFull: boolean;
  /** The process that went on last: it comes first, so that zero means "carry on". */
  readonly last: number;
  /** The instants worth jumping around. */
  readonly expiries: () => readonly number[];
}

/** The choices of a world at this moment. */
export function choicesOf<DB>(world: Simulation<DB>): Choice[] {
  return choicesAt({
    incarnations: world.processes,
    budget: world.budget,
    faults: world.scenario.faults ?? {},
    failed: () => world.store.errors.failed(),
    nowMs: world.nowMs,
    databaseAheadMs: world.databaseAheadMs,
    version: world.version,
    diskIsFull: world.diskIsFull,
    last: world.last,
    expiries: () => world.scenario.expiries?.(world) ?? expiriesIn(world.snapshot),
  });
}

/** Everything that may happen next, in a stable order: going on, then faults of statements, lives, clock and disk. */
function choicesAt(moment: Moment): Choice[] {
  const { budget, incarnations } = moment;
  const ready = readyPoints(moment);
  const choices: Choice[] = ready.map((parked) => ({ kind: 'step', id: `s${idOf(parked)}`, parked }));
  if (choices.length === 0) choices.push(...advance(moment));
  for (const parked of ready) choices.push(...statementFaults(parked, moment));
  for (const each of incarnations) choices.push(...lifeFaults(each, moment));
  if (incarnations.some((each) => each.alive)) {
    if (budget.clockJumps > 0) {
      for (const toMs of jumpTargets(moment)) choices.push({ kind: 'jump', id: `j${toMs}`, toMs });
    }
    if (budget.databaseClockJumps > 0) {
      for (const toMs of jumpTargets(moment)) choices.push({ kind: 'database-jump', id: `b${toMs}`, toMs });
    }
    if (moment.diskIsFull) choices.push({ kind: 'disk-healed', id: 'dh' });
    else if (budget.diskFull > 0) choices.push({ kind: 'disk-full', id: 'df' });
  }
  return choices;
}

const idOf = (parked: Parked) => `${parked.by.index}.${parked.id}`;

function readyPoints({ incarnations, last, nowMs, version, budget }: Moment): Parked[] {
  const inOrder = [...incarnations].sort((a, b) => Number(b.index === last) - Number(a.index === last));
  return inOrder
    .flatMap((each) => each.pending)
    .filter(
      (parked) =>
        parked.blockedAt !== version &&
        (parked.wakeMs === undefined || parked.wakeMs <= nowMs) &&
        (parked.kind !== 'timer' || budget.timers > 0),
    );
}

/** When all that is left is asleep, time passes to the first that wakes; that is no fault. */
function advance({ incarnations, nowMs, budget }: Moment): Choice[] {
  const wakes = incarnations
    .flatMap((each) => each.pending)
    .filter((parked) => parked.kind === 'sleep' || (parked.kind === 'timer' && budget.timers > 0))
    .map((parked) => parked.wakeMs ?? nowMs)
    .filter((wakeMs) => wakeMs > nowMs);
  if (wakes.length === 0) return [];
  const toMs = Math.min(...wakes);
  return [{ kind: 'advance', id: `a${toMs}`, toMs }];
}

function* statementFaults(parked: Parked, { budget, faults, failed }: Moment): Iterable<Choice> {
  if (parked.kind !== 'sql' && parked.kind !== 'effect') return;
  if (budget.lostReplies > 0) yield { kind: 'lost-reply', id: `l${idOf(parked)}`, parked };
  // A rollback that fails is a connection that breaks, and that rolls back too.
  if (budget.failures <= 0 || parked.label.startsWith('rollback')) return;
  const failures = typeof faults.failures === 'object' ? faults.failures.errors : undefined;
  for (const [at, error] of (failures ?? [failed]).entries()) {
    yield { kind: 'failure', id: `f${idOf(parked)}.${at}`, parked, error };
  }
}

function* lifeFaults(victim: Incarnation, { budget, faults }: Moment): Iterable<Choice> {
  if (victim.alive) {
    if (budget.crashes > 0) yield { kind: 'kill', id: `k${victim.index}`, victim };
    return;
  }
  if (victim.state !== 'killed' || budget.restarts <= 0) return;
  const pid = typeof faults.restarts === 'object' ? (faults.restarts.pid ?? 'either') : 'either';
  if (pid !== 'same') yield { kind: 'restart', id: `r${victim.index}`, victim, samePid: false };
  if (pid !== 'another') yield { kind: 'restart', id: `p${victim.index}`, victim, samePid: true };
}

/** Just below, exactly at and just past each expiry: a jump to anywhere else tells nothing that these do not. */
function jumpTargets({ faults, nowMs, databaseAheadMs, incarnations, expiries }: Moment): number[] {
  if (Array.isArray(faults.jumpsMs)) return faults.jumpsMs.map((ms: number) => nowMs + ms);
  const around = expiries().flatMap((expiryMs) => [-1, 0, 1].map((ms) => expiryMs - databaseAheadMs + ms));
  const wakes = incarnations.flatMap((each) => each.pending).map((parked) => parked.wakeMs ?? nowMs);
  const ahead = [...around, ...wakes].filter((atMs) => Number.isFinite(atMs) && atMs > nowMs);
  return [...new Set(ahead)].sort((a, b) => a - b);
}
