import { acquireLease, releaseLease, updateStageCas } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { settled } from '../rig/time.js';
import { TRIES } from '../rig/wire.js';

const WRITE = /^(with written as \()?update "tasks"/;
const DELETE = /^delete from "transition_lease"/;
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;

/** Stage writes with a lease. */
export const fenced: Proofs = {
  'updateStageCas with a lease moves the task, stamps it, and says by which token': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const change = await ok(updateStageCas(own, { ...move, lease }));
    expect(change).toEqual({
      taskId: 1,
      from: 'deploy-staging',
      to: 'deploy',
      fencingToken: lease.fencingToken,
      released: false,
    });
    expect(Object.isFrozen(change)).toBe(true);
    expect(rig.task(1)).toEqual({ id: 1, stage: 'deploy', updated_at: '2026-01-02 03:04:05.678', note: null });
    expect(rig.task(2)).toMatchObject({ stage: 'deploy-staging', updated_at: null });
    expect(a.told('stage.changed')).toMatchObject([
      { taskId: 1, from: 'deploy-staging', to: 'deploy', fencingToken: lease.fencingToken },
    ]);
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
  },

  'updateStageCas writes the columns that it was given, whatever becomes of their object meanwhile': async (rig) => {
    const own = rig.start('a').own();
    let reads = 0;
    const counted = {
      get note(): string | undefined {
        reads += 1;
        return reads === 1 ? 'counted' : undefined;
      },
    };
    await ok(updateStageCas(own, { ...move, set: counted }));
    expect(rig.task(1)).toMatchObject({ stage: 'deploy', note: 'counted' });

    const lease = await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    const set: Record<string, unknown> = { note: 'mine' };
    const written = updateStageCas(own, { ...move, taskId: 2, lease, set, release: true });
    Object.assign(set, { note: 'later', id: 9 });
    await ok(written);
    expect(rig.task(2)).toMatchObject({ stage: 'deploy', note: 'mine' });
    expect(rig.task(9)).toBeUndefined();
  },

  'updateStageCas with a lease loses against a stage that moved, tells where it is, and writes nothing': async (
    rig,
  ) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.run("update tasks set stage = 'done'");
    const before = rig.task(1);
    expect(await err(updateStageCas(own, { ...move, lease, set: { note: 'mine' }, release: true }))).toMatchObject({
      type: 'lost-race',
      taskId: 1,
      expected: 'deploy-staging',
      actual: 'done',
    });
    expect(rig.task(1)).toEqual(before);
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
    expect(a.told('stage.race-lost')).toMatchObject([{ taskId: 1, actual: 'done' }]);
    expect(a.told('stage.changed')).toEqual([]);
    expect(lease.signal.aborted).toBe(false);
  },

  'updateStageCas of an owner who was superseded writes nothing and tells by whom': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const { signal } = lease;
    rig.time.freeze(30_000);
    const taken = await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
    const before = rig.task(1);
    const lost = await err(updateStageCas(own, { ...move, lease, set: { note: 'late' } }));
    expect(lost).toMatchObject({ type: 'lease-lost', taskId: 1, holder: { claim: taken.claim } });
    expect(rig.task(1)).toEqual(before);
    expect(signal.reason).toMatchObject({ type: 'lease-lost', reason: 'unverifiable' });
    expect(rig.leases()).toMatchObject([{ claim: taken.claim }]);
  },

  'updateStageCas of an owner whose row is gone writes nothing': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.run('delete from transition_lease');
    expect(await err(updateStageCas(own, { ...move, lease }))).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging', updated_at: null });
    expect(lease.signal.reason).toMatchObject({ reason: 'gone' });
  },

  'updateStageCas of an expired owner whom nobody superseded may still finish': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(86_400_000);
    expect(await ok(updateStageCas(own, { ...move, lease }))).toMatchObject({ to: 'deploy' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
  },

  'updateStageCas is fenced by the claim and not by the token: a re-issued token fences nothing': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.run("update transition_lease set claim = 'of-another-life'");
    expect(await err(updateStageCas(own, { ...move, lease }))).toMatchObject({
      type: 'lease-lost',
      reason: 'superseded',
      fencingToken: lease.fencingToken,
    });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },

  'updateStageCas is fenced by a row of this task: the claim on another task fences nothing': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.run('update transition_lease set task_id = 2');
    expect(await err(updateStageCas(own, { ...move, lease }))).toMatchObject({ type: 'lease-lost', reason: 'gone' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },

  'updateStageCas refuses a stage that went A, B, A under another owner': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const [own, other] = [a.own(), b.own()];
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    rig.time.freeze(30_000);
    const taken = await ok(acquireLease(other, { taskId: 1, actor: 'reaper' }));
    await ok(updateStageCas(other, { ...move, lease: taken }));
    await ok(
      updateStageCas(other, { taskId: 1, expected: 'deploy', next: 'deploy-staging', lease: taken, release: true }),
    );
    expect(await err(updateStageCas(own, { ...move, lease }))).toMatchObject({ type: 'lease-lost' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },

  'updateStageCas of a task that is not there says so': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.addTasks([77]);
    const lease = await ok(acquireLease(own, { taskId: 77, actor: 'monitor' }));
    rig.run('delete from tasks where id = 77');
    expect(await err(updateStageCas(own, { ...move, taskId: 77, lease }))).toMatchObject({
      type: 'task-not-found',
      taskId: 77,
    });
    expect(rig.leases()).toHaveLength(1);
  },

  'updateStageCas with release gives the lease back in the same commit': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const commit = a.wire.hold(/^commit$/);
    const written = updateStageCas(own, { ...move, lease, release: true });
    await commit.arrived;
    expect([rig.task(1)?.['stage'], rig.leases().length]).toEqual(['deploy-staging', 1]);
    commit.letThrough();
    expect(await ok(written)).toMatchObject({ to: 'deploy', released: true, fencingToken: lease.fencingToken });
    expect([rig.task(1)?.['stage'], rig.leases().length]).toEqual(['deploy', 0]);
    expect(a.told('lease.released')).toMatchObject([{ provisional: false }]);
    expect(a.registry.size).toBe(0);
    expect(a.timers).toEqual([]);
    expect(await ok(releaseLease(own, lease))).toBe('already-released');
    await ok(acquireLease(b.own(), { taskId: 1, actor: 'reaper' }));
  },

  'updateStageCas with release whose answer is on its way is not told as lost by a renewal that comes first': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    let answer: () => void = () => {};
    b.wire.meanwhile(/^commit$/, async (run) => {
      await run();
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    });
    const written = updateStageCas(own.using(b.db), { ...move, lease, release: true });
    await settled();
    expect(rig.leases()).toEqual([]);
    await rig.time.advance(10_000);
    answer();
    expect(await ok(written)).toMatchObject({ released: true });
    expect(a.told('lease.lost')).toEqual([]);
    expect(lease.signal.aborted).toBe(false);
  },

  'updateStageCas with release of a process that dies before its commit has done neither': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const commit = a.wire.hold(/^commit$/);
    const written = updateStageCas(own, { ...move, lease, release: true });
    await commit.arrived;
    a.kill();
    await settled();
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
    void written;
  },

  'updateStageCas with release begins its transaction by a write, so that no reader can make it fail': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const write = a.wire.hold(WRITE);
    const written = updateStageCas(own, { ...move, lease, release: true });
    await write.arrived;
    await b.db
      .updateTable('tasks')
      .set({ note: 'in between' })
      .where('id', '=', 2)
      .execute()
      .catch(() => 'locked');
    write.letThrough();
    expect(await ok(written)).toMatchObject({ released: true });
  },

  'updateStageCas with release waits out a locked database': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const trx = await b.db.startTransaction().execute();
    await trx.updateTable('tasks').set({ note: 'x' }).where('id', '=', 2).execute();
    a.wire.meanwhile(WRITE, async (run) => {
      await run().finally(() => trx.commit().execute());
    });
    expect(await ok(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({ released: true });
    expect(a.wire.matching(WRITE)).toHaveLength(2);
  },

  'updateStageCas whose reply was lost has moved the task': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(WRITE, 'reply-lost', 1);
    expect(await ok(updateStageCas(own, { ...move, lease }))).toMatchObject({ to: 'deploy', released: false });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
    expect(a.told('stage.changed')).toHaveLength(1);
  },

  'updateStageCas whose every reply was lost looks, and knows that it has moved the task': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(WRITE, 'reply-lost');
    expect(await ok(updateStageCas(own, { ...move, lease }))).toMatchObject({ to: 'deploy' });
  },

  'updateStageCas that broke in an unknown way and moved nothing is of unknown outcome': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(WRITE, 'strange');
    expect(await err(updateStageCas(own, { ...move, lease }))).toMatchObject({
      type: 'store-failure',
      outcome: 'unknown',
    });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
    expect(lease.signal.aborted).toBe(false);
  },

  'updateStageCas with release whose commit was not answered looks, and knows what came of it': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(/^commit$/, 'reply-lost', 1);
    expect(await ok(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({ released: true });
    expect([rig.task(1)?.['stage'], rig.leases().length]).toEqual(['deploy', 0]);
    expect(a.wire.matching(/^commit$/)).toHaveLength(1);
    expect(a.told('lease.lost')).toEqual([]);
    expect(a.timers).toEqual([]);
  },

  'updateStageCas with release whose reply was lost before the commit is begun again': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(WRITE, 'reply-lost', 1);
    expect(await ok(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({ released: true });
    a.wire.mend();
    const again = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(/^begin$/, 'refused', 1);
    const back = { taskId: 1, expected: 'deploy', next: 'done', lease: again, release: true } as const;
    expect(await ok(updateStageCas(own, back))).toMatchObject({ released: true });
  },

  'updateStageCas with release whose commit never arrived holds on, its outcome unknown': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    a.wire.fault(/^commit$/, 'strange', 1);
    expect(await err(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({ outcome: 'unknown' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
    expect(await ok(releaseLease(own, lease))).toBe('released');
  },

  'updateStageCas with release whose reply was lost and could not be looked for may have released: that is no loss':
    async (rig) => {
      for (const learns of ['by a release', 'by a renewal']) {
        rig.run("update tasks set stage = 'deploy-staging' where id = 1");
        const a = rig.start(`a, that learns ${learns}`);
        const own = a.own();
        const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
        a.wire.fault(/^commit$/, 'reply-lost', 1);
        a.wire.fault(/^select/, 'strange');
        expect(await err(updateStageCas(own, { ...move, lease, release: true }))).toMatchObject({ outcome: 'unknown' });
        a.wire.mend();
        expect(rig.leases()).toEqual([]);
        if (learns === 'by a renewal') await rig.time.advance(20_000);
        expect(a.registry.size).toBe(learns === 'by a renewal' ? 0 : 2);
        expect(await ok(releaseLease(own, lease))).toBe('already-released');
        expect(lease.signal.aborted).toBe(false);
        expect(a.told('lease.lost')).toEqual([]);
        expect(a.timers).toEqual([]);
      }
    },

  'updateStageCas with release whose commit got no answer never believes what the rollback says after it': async (
    rig,
  ) => {
    for (const said of ['ECONNREFUSED', 'SQLITE_BUSY', 'SQLITE_ERROR', 'STRANGE']) {
      const a = rig.start(`a after ${said}`);
      const own = a.own();
      const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
      a.wire.fault(/^commit$/, 'connection lost');
      a.wire.meanwhile(/^rollback$/, async (run) => {
        await run();
        throw Object.assign(new Error('what the rollback says'), { code: said });
      });
      const failed = await err(updateStageCas(own, { ...move, lease, release: true }));
      expect(failed).toMatchObject({ type: 'store-failure', kind: 'connection', outcome: 'unknown' });
      expect(failed.message).toContain('connection lost');
      expect(a.wire.matching(/^commit$/)).toHaveLength(1);
      a.kill();
    }
  },

  'updateStageCas with release on a full disk tells of the full disk, and has done neither': async (rig) => {
    for (const at of [WRITE, DELETE, /^commit$/]) {
      const a = rig.start(`a at ${String(at)}`);
      const own = a.own();
      const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
      // SQLite rolls back by itself then, so that Kysely's own ROLLBACK fails.
      a.wire.meanwhile(
        at,
        async () => {
          throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
        },
        TRIES,
      );
      a.wire.meanwhile(
        /^rollback$/,
        async (run) => {
          await run();
          throw Object.assign(new Error('cannot rollback - no transaction is active'), { code: 'SQLITE_ERROR' });
        },
        TRIES,
      );
      const failed = await err(updateStageCas(own, { ...move, lease, release: true }));
      expect(failed).toMatchObject({ type: 'store-failure', retryable: true, outcome: 'not-applied' });
      expect(failed.message).toContain('disk is full');
      a.wire.mend();
      expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
      expect(await ok(releaseLease(own, lease))).toBe('released');
    }
  },

  'updateStageCas from a stage to itself writes the other columns and is won': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const again = { taskId: 1, expected: 'deploy-staging', next: 'deploy-staging', lease } as const;
    await ok(updateStageCas(own, { ...again, set: { note: 'touched' } }));
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging', note: 'touched' });
    await ok(updateStageCas(own, { ...again, set: { note: 'touched' } }));
  },

  'updateStageCas in a transaction of the caller goes with it': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const trx = await a.db.startTransaction().execute();
    expect(await ok(updateStageCas(own.using(trx), { ...move, lease, release: true }))).toMatchObject({
      to: 'deploy',
      released: true,
    });
    await trx.rollback().execute();
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
    expect(rig.leases()).toHaveLength(1);
    await a.db
      .transaction()
      .execute((again) => ok(updateStageCas(own.using(again), { ...move, lease, release: true })));
    expect([rig.task(1)?.['stage'], rig.leases().length]).toEqual(['deploy', 0]);
  },

  'updateStageCas with release in a transaction of the caller does both or neither': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    for (const fault of ['busy', 'strange', 'connection lost'] as const) {
      await a.db.transaction().execute(async (trx) => {
        await trx.updateTable('tasks').set({ note: fault }).where('id', '=', 2).execute();
        a.wire.fault(DELETE, fault, 1);
        const failed = await err(updateStageCas(own.using(trx), { ...move, lease, release: true }));
        expect(failed).toMatchObject({ type: 'store-failure', outcome: 'not-applied' });
      });
      a.wire.mend();
      expect([rig.task(1)?.['stage'], rig.task(2)?.['note'], rig.leases().length]).toEqual([
        'deploy-staging',
        fault,
        1,
      ]);
      expect(lease.signal.aborted).toBe(false);
    }
    await a.db.transaction().execute((trx) => ok(updateStageCas(own.using(trx), { ...move, lease, release: true })));
    expect([rig.task(1)?.['stage'], rig.leases().length]).toEqual(['deploy', 0]);
  },

  'updateStageCas with release that cannot be taken back does not say that it did nothing': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const asked = a.db.transaction().execute(async (trx) => {
      a.wire.fault(DELETE, 'busy', 1);
      a.wire.fault(/^rollback to/, 'connection lost', 1);
      const failed = await err(updateStageCas(own.using(trx), { ...move, lease, release: true }));
      expect(failed).toMatchObject({ kind: 'busy', outcome: 'unknown' });
      throw new Error('the caller rolls back');
    });
    await expect(asked).rejects.toThrow('the caller rolls back');
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },

  'a stage write that fails in a transaction tells the loss and holds nothing against the lease': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    const trx = await a.db.startTransaction().execute();
    await ok(releaseLease(own.using(trx), lease));
    expect(await err(updateStageCas(own.using(trx), { ...move, lease }))).toMatchObject({
      type: 'lease-lost',
      reason: 'gone',
    });
    await trx.rollback().execute();
    expect(lease.signal.aborted).toBe(false);
    await ok(updateStageCas(own, { ...move, lease }));
  },
};
