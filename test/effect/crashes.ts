import { acquireLease, assessTransition, reclaimStaleLeases, runEffect, updateStageCas } from 'transition-ownership';
import { expect } from 'vitest';
import { ok, type Proofs } from '../rig/proofs.js';
import type { Rig, TestOwnership, TestProcess } from '../rig/rig.js';
import { journal, journalled, Outside } from './outside.js';

/** Where a process is killed: at a statement, or in the outside system. */
interface Death {
  readonly at: number | 'apply';
  readonly when: 'before' | 'after';
}

/** Ended as its code meant it, held for a person, or killed on the way. */
type End = 'done' | 'held' | 'killed';

const never = new Promise<never>(() => {});

/** Lets a process be killed at its n-th statement from now on, before it runs or before its answer comes. */
function killAt(process: TestProcess, { at, when }: Death, killed: () => void): void {
  if (at === 'apply') return;
  for (let passed = 1; passed < at; passed += 1) process.wire.meanwhile(/./s, (run) => run());
  process.wire.meanwhile(/./s, async (run) => {
    if (when === 'after') await run();
    process.wire.cut();
    killed();
    await never;
  });
}

/** Takes the task, merges under the lease, and moves the stage; as an orchestrator does at each start. */
async function transition(
  own: TestOwnership,
  outside: Outside,
  probing: boolean,
  die: Death | undefined,
  kill: () => void,
) {
  await ok(reclaimStaleLeases(own));
  const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', stage: 'deploy-staging' }));
  const merged = await runEffect(own, lease, {
    effect: 'merge_pr',
    key: 'c0ffee',
    ...(probing && { probe: outside.look }),
    apply: async (input) => {
      const dies = die?.at === 'apply';
      if (dies && die.when === 'before') {
        kill();
        await never;
      }
      const result = await outside.merge(input);
      if (dies) {
        kill();
        await never;
      }
      return result;
    },
  });
  if (merged.isErr()) {
    expect(merged.error.type).toBe('effect-unknown');
    return 'held' as const;
  }
  const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy', lease, release: true } as const;
  await ok(updateStageCas(own, move));
  return 'done' as const;
}

/** Runs the transition in a process of its own, which may be killed on the way. */
async function live(rig: Rig, name: string, outside: Outside, probing: boolean, die?: Death): Promise<End> {
  const process = rig.start(name);
  const own = await journalled(process);
  let killed: () => void = () => {};
  const death = new Promise<'killed'>((resolve) => {
    killed = () => resolve('killed');
  });
  if (die !== undefined) killAt(process, die, killed);
  const end = await Promise.race([transition(own, outside, probing, die, killed), death]);
  process.kill();
  return end;
}

/** All places to die at, the outside system included; a statement that is not reached kills nobody. */
const DEATHS: readonly Death[] = [...Array.from({ length: 14 }, (_, at) => at + 1), 'apply' as const].flatMap((at) =>
  (['before', 'after'] as const).map((when) => ({ at, when })),
);

/** The transition has ended, whoever did it: once, or it is held and at most once. */
function judge(rig: Rig, outside: Outside, end: End, death: string): void {
  const stage = rig.task(1)?.['stage'];
  if (end === 'done') {
    expect([death, outside.applied.length, stage]).toEqual([death, 1, 'deploy']);
    expect(journal(rig)).toMatchObject([{ state: 'applied' }]);
    expect(rig.leases()).toEqual([]);
  } else {
    expect(outside.applied.length, death).toBeLessThanOrEqual(1);
    expect([death, stage]).toEqual([death, 'deploy-staging']);
    expect(journal(rig)).toMatchObject([{ state: 'started' }]);
  }
}

/** What holds when a process is killed at any place, and others go on. */
export const crashes: Proofs = {
  'killed at any statement or in apply, another process ends the transition with one merge, if a probe can tell':
    async (rig) => {
      let kills = 0;
      for (const [at, death] of DEATHS.entries()) {
        again(rig);
        const outside = new Outside();
        const first = await live(rig, `a${at}`, outside, true, death);
        if (first === 'killed') kills += 1;
        const end = rig.task(1)?.['stage'] === 'deploy' ? 'done' : await live(rig, `b${at}`, outside, true);
        expect(end).toBe('done');
        judge(rig, outside, end, JSON.stringify(death));
      }
      expect(kills).toBeGreaterThanOrEqual(16);
    },

  'killed at any statement or in apply, nothing is merged twice without a probe: what cannot be known is held': async (
    rig,
  ) => {
    const ends = new Map<string, number>();
    for (const [at, death] of DEATHS.entries()) {
      again(rig);
      const outside = new Outside();
      await live(rig, `a${at}`, outside, false, death);
      const ended = rig.task(1)?.['stage'] === 'deploy';
      const decision = ended ? 'done' : await assess(rig, `c${at}`);
      const end = ended ? 'done' : await live(rig, `b${at}`, outside, false);
      expect([JSON.stringify(death), decision]).toEqual([
        JSON.stringify(death),
        ended ? 'done' : end === 'held' ? 'hold' : decision,
      ]);
      expect(decision === 'hold').toBe(end === 'held');
      judge(rig, outside, end, JSON.stringify(death));
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    expect([...ends.keys()].sort()).toEqual(['done', 'held']);
  },

  'killed twice, the second time after anything it did, the third process ends the transition with one merge': async (
    rig,
  ) => {
    let twice = 0;
    for (const [at, first] of DEATHS.entries()) {
      for (const [then, second] of DEATHS.filter(({ when }) => when === 'after').entries()) {
        again(rig);
        const outside = new Outside();
        const end = await live(rig, `a${at}.${then}`, outside, true, first);
        if (end !== 'killed' || rig.task(1)?.['stage'] === 'deploy') break;
        if ((await live(rig, `b${at}.${then}`, outside, true, second)) === 'killed') twice += 1;
        const ended = rig.task(1)?.['stage'] === 'deploy';
        const last = ended ? 'done' : await live(rig, `c${at}.${then}`, outside, true);
        expect(last).toBe('done');
        judge(rig, outside, last, JSON.stringify([first, second]));
      }
    }
    expect(twice).toBeGreaterThan(80);
  },
};

/** The world as it was at first. */
function again(rig: Rig): void {
  rig.run('delete from transition_lease');
  rig.run(`update tasks set stage = 'deploy-staging'`);
  if (rig.read(`select 1 from sqlite_master where name = 'transition_effect'`).length > 0)
    rig.run('delete from transition_effect');
}

/** What a bystander is told of the task. */
async function assess(rig: Rig, name: string): Promise<string> {
  const process = rig.start(name);
  const { decision } = await ok(assessTransition(await journalled(process), 1));
  process.kill();
  return decision;
}
