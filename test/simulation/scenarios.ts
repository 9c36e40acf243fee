import {
  effectAtMostOnce,
  type Faults,
  invariant,
  type ProcessMain,
  type Scenario,
} from 'transition-ownership/testing';
import * as actors from './actors.js';
import { always, options, seeded, type Tables } from './yard.js';

type Processes = Readonly<Record<string, ProcessMain<Tables>>>;

/** A scenario that is explored whole: in memory, and where it says so on a WAL file. */
export interface Explored {
  readonly proves: string;
  readonly scenario: Scenario<Tables>;
  readonly onFile?: boolean;
}

const { ttlMs, maxHoldMs } = options.lease;
const {
  mover,
  looker,
  holder,
  webhook,
  twoInOne,
  batcher,
  reclaimer,
  operator,
  deployer,
  worker,
  finisher,
  reaper,
  sanitizer,
  starter,
} = actors;

const restart = { count: 1, pid: 'either' } as const;
const paused: Faults = { clockJumps: 1, jumpsMs: [ttlMs], timers: 0 };

const run = (processes: Processes, faults: Faults, rest: Partial<Scenario<Tables>> = {}): Scenario<Tables> => ({
  ...seeded,
  processes,
  faults: { timers: 0, ...faults },
  invariant: always,
  ...rest,
});

const movedOnce = invariant<Tables>('exactly one moved the stage', ({ processes }) => {
  const movers = processes.filter(({ result }) => result === 'moved').length;
  return movers === 1 || `${String(movers)} did`;
});

const done = invariant<Tables>('the task gets done', (world) => world.rows('tasks')[0]?.['stage'] === 'done');

/** What a lease holder has left, no handler is called for. */
export const calledInTime = invariant<Tables>(
  'a handler meets its task in the stage that it asked for',
  ({ facts }) => {
    const met = facts.flatMap(({ handled }) => (handled === undefined ? [] : [handled]));
    return met.every((stage) => stage === 'deploy') || `met in ${met.map(String).join(' and ')}`;
  },
);

const oneAtATime = invariant<Tables>('two actors of one process never hold the task together', ({ facts }) => {
  const begun = facts.filter(({ begins }) => begins !== undefined).length;
  return begun - facts.filter(({ ends }) => ends !== undefined).length <= 1;
});

const deployedOnce = (rest: Partial<Scenario<Tables>> = {}): Partial<Scenario<Tables>> => ({
  setup: async (world) => {
    actors.outside.deployed = false;
    await seeded.setup(world);
  },
  outside: () => actors.outside,
  invariant: [...always, effectAtMostOnce<Tables>('deploy')],
  ...rest,
});

/** A start has no pid yet, and a living run has one: both are left to whoever has them. */
const reapsTheDeadAlone = invariant<Tables>('a reaper takes no job from a start or a living run', (world) => {
  if (!world.actors.some(({ name }) => name === 'R')) return true;
  for (const before of world.previous['jobs'] ?? []) {
    const after = world.rows('jobs').find((row) => row['id'] === before['id']);
    if (before['status'] !== 'running' || after?.['status'] === 'running') continue;
    const lives = world.processes.some(({ pid, state }) => pid === before['pid'] && state === 'running');
    if (before['pid'] === null || lives) return `job ${JSON.stringify(before['id'])}`;
  }
  return true;
});

const withImpossibleJob: Partial<Scenario<Tables>> = {
  setup: async (world) => {
    await seeded.setup(world);
    await world.store.admin.updateTable('jobs').set({ pid: 4_711, run_id: 7 }).where('id', '=', 1).execute();
  },
  // The rule is broken as the schedule begins: it is repaired in the end, and nothing else breaks it.
  invariant: always.filter(({ rule }) => rule !== 'a queued job belongs to no run'),
  eventually: always.filter(({ rule }) => rule === 'a queued job belongs to no run'),
};

/** Everything that is explored whole, by what it proves. */
export const scenarios: readonly Explored[] = [
  {
    proves: 'one of two movers moves the stage',
    scenario: run({ A: mover(false), B: mover(true) }, {}, { finally: movedOnce }),
    onFile: true,
  },
  {
    proves: 'an owner that finishes between the look and the insert of another leaves it nothing to do',
    scenario: run(
      { A: looker, B: looker },
      { crashes: 1, restarts: restart },
      { invariant: [...always, calledInTime], eventually: done },
    ),
    onFile: true,
  },
  {
    proves: 'a crash anywhere, and a restart with the same pid or another, still gets the task done',
    scenario: run({ A: mover(false), hook: webhook }, { crashes: 1, restarts: restart }, { eventually: done }),
    onFile: true,
  },
  {
    proves: 'a crash anywhere in a release that is one commit with the stage',
    scenario: run({ A: mover(true) }, { crashes: 1, restarts: restart }, { eventually: done }),
    onFile: true,
  },
  {
    proves: 'an owner that stood still past its lease moves nothing under its successor',
    scenario: run({ A: mover(false), B: mover(false) }, paused),
  },
  {
    proves: 'a lost reply is settled by the claim',
    scenario: run({ A: mover(false) }, { lostReplies: 1 }, { eventually: done }),
    onFile: true,
  },
  {
    proves: 'a failed statement is tried again, or told',
    scenario: run({ A: mover(false), B: webhook }, { failures: 1 }, { eventually: done }),
  },
  {
    proves: 'an unleased write never moves the stage under an owner',
    scenario: run({ A: mover(false), hook: webhook }, { crashes: 1 }, { eventually: done }),
    onFile: true,
  },
  {
    proves: 'the registry tells two actors of one process apart',
    scenario: run({ A: twoInOne }, { failures: 1, lostReplies: 1 }, { invariant: [...always, oneAtATime] }),
  },
  {
    proves: 'a renewal that comes anywhere revives nothing, and ensure vouches for what it says',
    scenario: run({ A: holder, R: reclaimer }, { clockJumps: 1, jumpsMs: [3_000, ttlMs], timers: 1 }),
  },
  {
    proves: 'a hold ends at its hard bound',
    scenario: run({ A: mover(false), B: reclaimer }, { clockJumps: 1, jumpsMs: [maxHoldMs - 1, maxHoldMs] }),
  },
  {
    proves: 'two reclaimers never take a lease that they did not judge',
    scenario: run({ A: holder, R: reclaimer, S: reclaimer }, { crashes: 1 }),
  },
  {
    proves: 'an operator ends exactly the acquisition that was seen',
    scenario: run({ A: mover(false), B: mover(false), op: operator }, {}),
  },
  {
    proves: 'many tasks are taken each on its own',
    scenario: run({ A: batcher, B: batcher }, { crashes: 1 }),
  },
  {
    proves: 'an effect with a probe happens once, and the task gets done',
    scenario: run(
      { A: deployer(true) },
      { crashes: 1, restarts: restart, lostReplies: 1 },
      deployedOnce({ eventually: done }),
    ),
  },
  {
    proves: 'an effect without a probe is never repeated on a guess',
    scenario: run({ A: deployer(false), B: deployer(false) }, { crashes: 1 }, deployedOnce()),
  },
  {
    proves: 'a queued job carries no run through claim, stamp, crash, requeue and reaping',
    scenario: run({ W: worker, R: reaper }, { crashes: 1, restarts: restart }),
  },
  {
    proves: 'a reaper takes no job from a start or a living run, and a finished job stays finished',
    scenario: run(
      { W: finisher, R: reaper },
      { crashes: 1, restarts: { count: 1, pid: 'another' } },
      { invariant: [...always, reapsTheDeadAlone] },
    ),
  },
  {
    proves: 'two workers never have one job',
    scenario: run({ V: worker, W: worker }, { crashes: 1 }),
    onFile: true,
  },
  {
    proves: 'a sanitizer repairs what it found, beside a worker that claims it',
    scenario: run({ S: sanitizer, W: worker }, { crashes: 1, restarts: restart }, withImpossibleJob),
  },
  {
    proves: 'two recoveries at once, one of them killed, leave what one would',
    scenario: run({ A: starter, B: starter }, { crashes: 1, restarts: restart }, withImpossibleJob),
  },
];
