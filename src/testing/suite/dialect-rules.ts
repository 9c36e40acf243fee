import { updateStageCas } from '../../index.js';
import type { LeaseInput, LeaseOutput } from '../check/lease-model.js';
import { leaseModel } from '../check/lease-model.js';
import { checkLinearizable } from '../check/linearizable.js';
import { eventuallyFree, noLeaseOutlivesItsBound, tokensOnlyGrow } from '../rule/leases.js';
import { exactlyOneStageWriter } from '../rule/stage-writer.js';
import type { Faults } from '../world/faults.js';
import { invariant } from '../world/invariant.js';
import type { Process } from '../world/process.js';
import type { Scenario } from '../world/scenario.js';
import type { Operation, World } from '../world/view.js';
import { contend, contendersOwnership, suiteTtlMs, type Wanted } from './contender.js';
import { type SuiteTables, seedTasks, stageOf, suiteTasks } from './suite-tables.js';

/** The promises of the library, by the name of the test that proves each. */
export type RuleId =
  | 'R1-token-granted-once'
  | 'R2-no-takeover-before-expiry'
  | 'R3-takeover-at-expiry'
  | 'R4-stale-write-refused'
  | 'R5-cas-once'
  | 'R6-linearizable'
  | 'R7-crash-anywhere-recovers'
  | 'R8-lost-reply-is-known-again'
  | 'R9-disk-full-is-clean'
  | 'R10-tasks-independent';

type Main = (process: Process<SuiteTables>) => Promise<unknown>;
type Rule = Scenario<SuiteTables>;

const always = [
  tokensOnlyGrow<SuiteTables>(),
  noLeaseOutlivesItsBound<SuiteTables>(),
  exactlyOneStageWriter<SuiteTables>({ table: suiteTasks.table }),
];

const comesRight = [
  eventuallyFree<SuiteTables>(),
  invariant<SuiteTables>('the task gets to its stage', (world) => stageOf(world, 1) === 'b'),
];

/** The scenario of each rule: what runs, what befalls it, and what must hold. */
export function dialectRules(dialect: Wanted['dialect']): Readonly<Record<RuleId, Rule>> {
  const contender: Main = (process) => contend(process, { taskId: 1, dialect });
  const contenders = (faults: Faults, rest: Partial<Rule> = {}): Rule => ({
    ...rule({ A: contender, B: contender }, rest),
    faults: { timers: 1, ...faults },
  });
  const pause: Faults = { clockJumps: 1, jumpsMs: [suiteTtlMs - 1, suiteTtlMs, suiteTtlMs + 1] };
  // An owner that does not notice: what it still sends, only the database can refuse.
  const overlap: Faults = { databaseClockJumps: 1, jumpsMs: [suiteTtlMs] };
  return {
    'R1-token-granted-once': contenders({}),
    'R2-no-takeover-before-expiry': contenders(pause, { invariant: [...always, noEarlyTakeover] }),
    'R3-takeover-at-expiry': {
      ...rule(
        { A: contender, B: (process) => process.clock.sleep(suiteTtlMs).then(() => contender(process)) },
        { finally: takenOver },
      ),
      faults: { crashes: 1, timers: 0 },
    },
    'R4-stale-write-refused': contenders(overlap),
    'R5-cas-once': rule({ A: caser(dialect), B: caser(dialect), C: caser(dialect) }, { finally: wonOnce }),
    'R6-linearizable': contenders(overlap, { finally: linearizable }),
    'R7-crash-anywhere-recovers': contenders(
      { crashes: 1, restarts: { count: 1, pid: 'another' } },
      { eventually: comesRight },
    ),
    'R8-lost-reply-is-known-again': contenders({ lostReplies: 1 }, { finally: notByItself, eventually: comesRight }),
    'R9-disk-full-is-clean': { ...rule({ A: contender }, { eventually: comesRight }), faults: { diskFull: 1 } },
    'R10-tasks-independent': rule(
      { A: contender, B: (process) => contend(process, { taskId: 2, dialect }) },
      {
        // No time goes by: with time, one may give up its wait for a reply, on whatever task.
        faults: { timers: 0 },
        finally: invariant<SuiteTables>(
          'both tasks get to their stage',
          (world) => stageOf(world, 1) === 'b' && stageOf(world, 2) === 'b',
        ),
      },
    ),
  };
}

function rule(processes: Readonly<Record<string, Main>>, rest: Partial<Rule> = {}): Rule {
  return {
    processes,
    setup: ({ store }) => seedTasks(store, { 1: 'a', 2: 'a' }),
    invariant: always,
    ...rest,
  };
}

const caser =
  (dialect: Wanted['dialect']): Main =>
  async (process) => {
    const ownership = contendersOwnership(process, { taskId: 1, dialect });
    const change = await updateStageCas(ownership, { taskId: 1, expected: 'a', next: 'b' });
    return change.isOk() ? 'won' : change.error.type;
  };

const wonOnce = invariant<SuiteTables>('exactly one compare-and-swap wins', ({ processes }) => {
  const winners = processes.filter(({ result }) => result === 'won').map(({ name }) => name);
  return winners.length === 1 || `won by ${winners.join(' and ') || 'nobody'}`;
});

const noEarlyTakeover = invariant<SuiteTables>('no take-over before the expiry', ({ facts }) => {
  let holder: World['facts'][number] | undefined;
  for (const fact of facts) {
    if (fact['release'] !== undefined) holder = undefined;
    if (fact['grant'] === undefined) continue;
    if (holder !== undefined && fact.atMs < Number(holder['expiresAtMs'])) {
      return `${fact.process} took over ${Number(holder['expiresAtMs']) - fact.atMs} ms too early from ${holder.process}`;
    }
    holder = fact;
  }
  return true;
});

const takenOver = invariant<SuiteTables>('a killed owner is followed at its expiry', ({ processes }) => {
  const [owner, follower] = processes;
  if (owner?.state !== 'killed' || follower?.state !== 'ended') return true;
  return follower.result !== 'busy' || 'the lease was past its expiry and yet busy';
});

const notByItself = invariant<SuiteTables>('nobody is kept out by a lease of its own', (world) => {
  const owners = world.rows('transition_lease').map((row) => row['owner_boot_id']);
  const kept = world.processes.filter(({ result, bootId }) => result === 'busy' && owners.includes(bootId));
  return kept.length === 0 || `${kept.map(({ name }) => name).join(' and ')} found a task busy that it had taken`;
});

const linearizable = invariant<SuiteTables>('every history is linearizable', ({ history }) => {
  const found = checkLinearizable(leaseModel, history as readonly Operation<LeaseInput, LeaseOutput>[]);
  return found.ok || `no order explains ${JSON.stringify(history)}`;
});
