import type { Kysely } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  assessTransition,
  createTransitionOwnership,
  ensureSchema,
  forceReleaseLease,
  inspectLease,
  reclaimStaleLeases,
  resolveEffect,
  runEffect,
  shouldDefer,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { type Rig, type TestProcess, tasks } from '../rig/rig.js';

/** Tasks whose ids are text, in a column that takes ids in two spellings for one. */
function makeTasks(rig: Rig, idType = 'text collate nocase'): void {
  rig.run('drop table tasks');
  rig.run(`create table tasks (id ${idType} primary key, stage text, updated_at text, note text)`);
  rig.run('drop table transition_lease');
}

async function ownOf(a: TestProcess) {
  const own = createTransitionOwnership({
    db: a.db as unknown as Kysely<{ tasks: { id: string; stage: string; updated_at: string } }>,
    tasks,
    lease: { taskIdType: 'text' },
    effects: {},
    ...a.ports,
    ...(a.dialect && { dialect: a.dialect }),
  });
  await ok(ensureSchema(own));
  return own;
}

/** One task has one lease, in however many ways its id is spelled. */
export const spelling: Proofs = {
  'two spellings of one task are one lease, whose key is that of the row': async (rig) => {
    makeTasks(rig);
    rig.run("insert into tasks (id, stage) values ('Repo-1', 'draft'), ('Repo-2', 'draft')");
    const [own, other] = [await ownOf(rig.start('a')), await ownOf(rig.start('b'))];
    const lease = await ok(acquireLease(own, { taskId: 'REPO-1', actor: 'monitor', stage: 'draft' }));
    expect(lease.taskId).toBe('Repo-1');
    expect(rig.leases()).toMatchObject([{ task_id: 'Repo-1', claim: lease.claim }]);
    for (const taskId of ['repo-1', 'Repo-1', 'REPO-1']) {
      const holder = { claim: lease.claim, taskId: 'Repo-1' };
      expect(await err(acquireLease(other, { taskId, actor: 'reaper' }))).toMatchObject({ type: 'lease-busy', holder });
      expect(await ok(inspectLease(other, taskId))).toMatchObject({ state: 'held', holder });
      expect(await ok(shouldDefer(other, taskId))).toMatchObject({ defer: true, holder });
    }
    expect(await ok(inspectLease(other, 'repo-2'))).toEqual({ state: 'free' });
    expect(await ok(reclaimStaleLeases(other, { taskIds: ['repo-2'] }))).toMatchObject({ kept: [], reclaimed: [] });
    const report = await ok(reclaimStaleLeases(other, { taskIds: ['repo-1', 'REPO-1', 'repo-2'] }));
    expect(report.kept.map(({ claim }) => claim)).toEqual([lease.claim]);
    const order = { taskId: 'repo-1', fencingToken: Number(lease.fencingToken), by: 'ada', reason: 'drill' };
    expect(await ok(forceReleaseLease(other, order))).toMatchObject({ claim: lease.claim });
    expect(rig.leases()).toEqual([]);
  },

  'two spellings in one list are one lease: the second is busy': async (rig) => {
    makeTasks(rig);
    rig.run("insert into tasks (id, stage) values ('Repo-1', 'draft'), ('Repo-2', 'draft')");
    const own = await ownOf(rig.start('a'));
    const ids = ['REPO-1', 'repo-1', 'REPO-2', 'repo-3'];
    const many = await ok(
      acquireLeases(
        own,
        ids.map((taskId) => ({ taskId, actor: 'reaper' })),
      ),
    );
    expect(many.acquired.map(({ taskId }) => taskId).sort()).toEqual(['Repo-1', 'Repo-2']);
    expect(many.busy).toMatchObject([{ verdict: 'live', holder: { taskId: 'Repo-1' } }]);
    expect(many.refused).toMatchObject([{ type: 'task-not-found', taskId: 'repo-3' }]);
    expect(rig.leases().map((row) => row['task_id'])).toEqual(['Repo-1', 'Repo-2']);
  },

  'a number in text is met by its row, and has the key of that': async (rig) => {
    makeTasks(rig, 'integer');
    rig.run("insert into tasks (id, stage) values (7, 'draft')");
    const own = await ownOf(rig.start('a'));
    expect((await ok(acquireLease(own, { taskId: '07', actor: 'monitor' }))).taskId).toBe('7');
    expect(await err(acquireLease(own, { taskId: '7', actor: 'reaper' }))).toMatchObject({ type: 'lease-busy' });
    expect(rig.leases()).toMatchObject([{ task_id: '7' }]);
  },

  'a lease that 0.1.0 wrote in another spelling is found by that one, after the lease of the row': async (rig) => {
    makeTasks(rig);
    rig.run("insert into tasks (id, stage) values ('Repo-1', 'draft')");
    const own = await ownOf(rig.start('a'));
    const lease = await ok(acquireLease(own, { taskId: 'Repo-1', actor: 'monitor' }));
    const columns = 'claim, owner, acquired_ms, expires_ms, ttl_ms, task_id';
    rig.run(`insert into transition_lease (${columns}) select 'old', owner, acquired_ms, expires_ms, ttl_ms, 'REPO-1'
      from transition_lease`);
    expect(await ok(inspectLease(own, 'REPO-1'))).toMatchObject({ holder: { claim: lease.claim } });
    expect((await ok(reclaimStaleLeases(own, { taskIds: ['REPO-1'] }))).kept).toMatchObject([{ claim: lease.claim }]);
    rig.run("delete from transition_lease where task_id = 'Repo-1'");
    expect(await ok(inspectLease(own, 'REPO-1'))).toMatchObject({ holder: { claim: 'old' } });
    expect((await ok(reclaimStaleLeases(own, { taskIds: ['REPO-1'] }))).kept).toMatchObject([{ claim: 'old' }]);
    expect(await ok(inspectLease(own, 'Repo-1'))).toEqual({ state: 'free' });
  },

  'an effect is looked for as the row spells its task, and as 0.1.0 wrote it': async (rig) => {
    makeTasks(rig);
    rig.run("insert into tasks (id, stage) values ('Repo-1', 'draft')");
    const own = await ownOf(rig.start('a'));
    let applied = 0;
    const merge = { effect: 'merge', key: 'c0ffee', apply: () => void (applied += 1) };
    const deploy = { ...merge, effect: 'deploy' };
    const lease = await ok(acquireLease(own, { taskId: 'REPO-1', actor: 'monitor' }));
    await ok(runEffect(own, lease, merge));
    await ok(runEffect(own, lease, deploy));
    rig.run("update transition_effect set task_id = 'REPO-1' where effect = 'merge'");
    expect(await ok(runEffect(own, lease, merge))).toMatchObject({ status: 'already-applied' });
    expect(await ok(runEffect(own, lease, deploy))).toMatchObject({ status: 'already-applied' });
    expect(applied).toBe(2);
    rig.run("update transition_effect set state = 'started', result = null, applied_ms = null");
    const { effects } = await ok(assessTransition(own, 'REPO-1'));
    expect(effects.map(({ effect, state }) => [effect, state])).toEqual([
      ['deploy', 'started'],
      ['merge', 'started'],
    ]);
    for (const { effect } of [merge, deploy]) {
      const word = { key: 'c0ffee', outcome: 'not-applied', by: 'ada', reason: 'looked' } as const;
      expect(await ok(resolveEffect(own, { taskId: 'REPO-1', effect, ...word }))).toBe('resolved');
    }
    expect(await ok(runEffect(own, lease, merge))).toMatchObject({ status: 'applied' });
    expect(rig.read('select task_id from transition_effect')).toEqual([{ task_id: 'Repo-1' }]);
  },
};
