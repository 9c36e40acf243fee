import type { Kysely } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  defineStages,
  ensureSchema,
  inspectLease,
  releaseLease,
  updateStageCas,
} from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import { tasks } from '../rig/rig.js';

const WRITE = /^update "tasks"/;
const move = { taskId: 1, expected: 'deploy-staging', next: 'deploy' } as const;

/** Stage writes without a lease. */
export const unfenced: Proofs = {
  'updateStageCas without a lease moves a task that nobody holds': async (rig) => {
    const a = rig.start('a');
    expect(await ok(updateStageCas(a.own(), move))).toEqual({
      taskId: 1,
      from: 'deploy-staging',
      to: 'deploy',
      fencingToken: null,
      released: false,
    });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy', updated_at: '2026-01-02 03:04:05.678' });
    expect(rig.task(2)).toMatchObject({ stage: 'deploy-staging', updated_at: null });
  },

  'updateStageCas lets one of many that expect the same stage win': async (rig) => {
    const asked = ['a', 'b', 'c', 'd'].map((name) => {
      const own = rig.start(name).own();
      return updateStageCas(own, { ...move, set: { note: name } });
    });
    const answers = await Promise.all(asked);
    const won = answers.flatMap((answer, at) => (answer.isOk() ? ['abcd'[at]] : []));
    expect(won).toHaveLength(1);
    expect(rig.task(1)).toMatchObject({ note: won[0] });
    for (const answer of answers.filter((given) => given.isErr()))
      expect(answer).toMatchObject({ error: { type: 'lost-race', actual: 'deploy' } });
  },

  'updateStageCas without a lease loses against a stage that moved, and writes nothing': async (rig) => {
    const a = rig.start('a');
    rig.run("update tasks set stage = 'done'");
    const before = rig.task(1);
    expect(await err(updateStageCas(a.own(), { ...move, set: { note: 'mine' } }))).toMatchObject({
      type: 'lost-race',
      expected: 'deploy-staging',
      actual: 'done',
    });
    expect(rig.task(1)).toEqual(before);
    expect(a.told('stage.changed')).toEqual([]);
  },

  'updateStageCas without a lease does not move a stage under an owner, and tells whose it is': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(await err(updateStageCas(b.own(), { ...move, set: { note: 'mine' } }))).toMatchObject({
      type: 'lease-busy',
      holder: { claim: lease.claim },
      verdict: 'live',
    });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging', note: null });
    expect(b.told('action.deferred')).toMatchObject([{ taskId: 1, reason: 'lease-busy' }]);
    expect(b.told('stage.race-lost')).toEqual([]);
    await ok(updateStageCas(b.own(), { ...move, taskId: 2 }));
  },

  'updateStageCas without a lease reclaims a dead holder and writes': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    a.kill();
    await ok(updateStageCas(b.own(), move));
    expect(rig.leases()).toEqual([]);
    expect(rig.task(1)).toMatchObject({ stage: 'deploy' });
    expect(b.told('lease.reclaimed')).toMatchObject([{ reason: 'process-gone' }]);
  },

  'updateStageCas without a lease writes once its holder has let go': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
    b.wire.meanwhile(/^select .* from "transition_lease"/s, async (run) => {
      await ok(releaseLease(own, lease));
      await run();
    });
    await ok(updateStageCas(b.own(), move));
  },

  'updateStageCas gives up after a few tries on a task that changes hands under its eyes': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const own = a.own();
    for (let times = 0; times < 20; times += 1)
      b.wire.meanwhile(/^delete from "transition_lease"|^update "tasks"/, async (run) => {
        rig.run('delete from transition_lease');
        await ok(acquireLease(own, { taskId: 1, actor: 'monitor' }));
        rig.run('update transition_lease set expires_ms = 1');
        await run();
      });
    expect(await err(updateStageCas(b.own(), move))).toMatchObject({ type: 'lease-busy', reason: 'contended' });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },

  'updateStageCas evenIfHeld writes under an owner, and still only from the expected stage': async (rig) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    const lease = await ok(acquireLease(a.own(), { taskId: 1, actor: 'monitor' }));
    expect(await ok(updateStageCas(b.own(), { ...move, evenIfHeld: true }))).toMatchObject({ fencingToken: null });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy', updated_at: '2026-01-02 03:04:05.678' });
    expect(await err(updateStageCas(b.own(), { ...move, evenIfHeld: true }))).toMatchObject({
      type: 'lost-race',
      actual: 'deploy',
    });
    expect(rig.leases()).toMatchObject([{ claim: lease.claim }]);
    expect(b.wire.sent.some(({ sql }) => sql.includes('transition_lease'))).toBe(false);
  },

  'updateStageCas without a lease cannot tell A, B, A from A: it says so in its documentation, and does': async (
    rig,
  ) => {
    const [a, b] = [rig.start('a'), rig.start('b')];
    await ok(updateStageCas(b.own(), move));
    await ok(updateStageCas(b.own(), { taskId: 1, expected: 'deploy', next: 'deploy-staging' }));
    await ok(updateStageCas(a.own(), move));
  },

  'updateStageCas of a task that is not there says so': async (rig) => {
    const a = rig.start('a');
    for (const evenIfHeld of [true, false])
      expect(await err(updateStageCas(a.own(), { ...move, taskId: 77, evenIfHeld }))).toMatchObject({
        type: 'task-not-found',
      });
  },

  'a stage of null is a value like any other': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.run('update tasks set stage = null where id = 1');
    expect(await err(updateStageCas(own, move))).toMatchObject({ type: 'lost-race', actual: null });
    expect(await err(updateStageCas(own, { taskId: 2, expected: null, next: 'deploy' }))).toMatchObject({
      type: 'lost-race',
      expected: null,
      actual: 'deploy-staging',
    });
    await ok(updateStageCas(own, { taskId: 1, expected: null, next: 'deploy' }));
    await ok(updateStageCas(own, { taskId: 1, expected: 'deploy', next: null }));
    expect(rig.task(1)).toMatchObject({ stage: null });
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'monitor', stage: null }));
    await ok(updateStageCas(own, { taskId: 1, expected: null, next: 'done', lease }));
    expect(rig.task(1)).toMatchObject({ stage: 'done' });
  },

  'further columns go in the same UPDATE, null among them, and one may be the stamp itself': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    await ok(updateStageCas(own, { ...move, set: { note: 'it\'s "done"; drop table tasks; --' } }));
    expect(rig.task(1)).toMatchObject({ note: 'it\'s "done"; drop table tasks; --' });
    await ok(
      updateStageCas(own, { taskId: 1, expected: 'deploy', next: 'done', set: { note: null, updated_at: 'x' } }),
    );
    expect(rig.task(1)).toEqual({ id: 1, stage: 'done', updated_at: 'x', note: null });
    expect(a.wire.matching(WRITE)).toHaveLength(2);
  },

  'the stamp has the format of the option': async (rig) => {
    const a = rig.start('a');
    const stamps = [];
    for (const timeFormat of ['sqlite-text', 'iso', 'epoch-ms'] as const) {
      const own = createTransitionOwnership({
        db: a.db,
        tasks,
        ...a.ports,
        timeFormat,
        ...(a.dialect && { dialect: a.dialect }),
      });
      await ok(updateStageCas(own, { taskId: 1, expected: 'deploy-staging', next: 'deploy-staging' }));
      stamps.push(rig.task(1)?.['updated_at']);
    }
    expect(stamps).toEqual(['2026-01-02 03:04:05.678', '2026-01-02T03:04:05.678Z', String(rig.time.databaseMs)]);
  },

  'a table without a stamp is written without one': async (rig) => {
    const a = rig.start('a');
    const { updatedAt: _, ...unstamped } = tasks;
    const own = createTransitionOwnership({ db: a.db, tasks: unstamped, ...a.ports });
    await ok(updateStageCas(own, move));
    expect(rig.task(1)).toMatchObject({ stage: 'deploy', updated_at: null });
  },

  'an illegal move is told before any statement, and under off it is as before the library': async (rig) => {
    const a = rig.start('a');
    const transitions = defineStages({ 'deploy-staging': ['deploy'], deploy: ['done'], done: [] });
    for (const mode of ['on', 'draining'] as const) {
      const own = createTransitionOwnership({ db: a.db, tasks: { ...tasks, transitions }, ...a.ports, mode });
      const untyped = { taskId: 1, expected: 'deploy-staging', next: 'done' } as never;
      expect(await err(updateStageCas(own, untyped))).toMatchObject({
        type: 'illegal-transition',
        from: 'deploy-staging',
        to: 'done',
      });
    }
    expect(a.wire.sent).toEqual([]);
    const off = createTransitionOwnership({ db: a.db, tasks: { ...tasks, transitions }, ...a.ports, mode: 'off' });
    const untyped = { taskId: 1, expected: 'deploy-staging', next: 'done' } as never;
    expect(await ok(updateStageCas(off, untyped))).toMatchObject({ to: 'done' });
  },

  'updateStageCas without a lease whose reply was lost is of unknown outcome, and not sent again': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(WRITE, 'reply-lost');
    expect(await err(updateStageCas(a.own(), move))).toMatchObject({
      type: 'store-failure',
      kind: 'connection',
      outcome: 'unknown',
    });
    expect(a.wire.matching(WRITE)).toHaveLength(1);
  },

  'updateStageCas waits out a locked database': async (rig) => {
    const a = rig.start('a');
    a.wire.fault(WRITE, 'busy', 5);
    await ok(updateStageCas(a.own(), move));
    expect(rig.time.slept).toHaveLength(5);
  },

  'stages compare byte by byte, also in a column that folds case': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.run('drop table tasks');
    rig.run('create table tasks (id integer primary key, stage text collate nocase, updated_at text, note text)');
    rig.run("insert into tasks values (1, 'DEPLOY-STAGING', null, null), (2, 'DEPLOY-STAGING', null, null)");
    const lease = await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    for (const request of [move, { ...move, evenIfHeld: true }, { ...move, taskId: 2, lease }])
      expect(await err(updateStageCas(own, request))).toMatchObject({ type: 'lost-race', actual: 'DEPLOY-STAGING' });
  },

  'text ids meet the row that their column takes for theirs, and its lease': async (rig) => {
    const a = rig.start('a');
    rig.run('drop table tasks');
    rig.run('create table tasks (id text collate nocase, stage text, updated_at text, note text)');
    rig.run("insert into tasks values ('a', 'draft', null, null), ('b', 'draft', null, null)");
    rig.run('drop table transition_lease');
    const [own, off] = (['on', 'off'] as const).map((mode) =>
      createTransitionOwnership({
        db: a.db as unknown as Kysely<{ tasks: { id: string; stage: string; updated_at: string } }>,
        tasks,
        lease: { taskIdType: 'text' },
        mode,
        ...a.ports,
        ...(a.dialect && { dialect: a.dialect }),
      }),
    );
    if (own === undefined || off === undefined) throw new Error('there are two');
    await ok(ensureSchema(own));
    const lease = await ok(acquireLease(own, { taskId: 'A', actor: 'monitor' }));
    expect(lease.taskId).toBe('a');
    const printing = { taskId: 'A', expected: 'draft', next: 'printed' };
    for (const taskId of ['A', 'a'])
      expect(await err(updateStageCas(own, { ...printing, taskId }))).toMatchObject({ type: 'lease-busy' });
    await ok(updateStageCas(own, { ...printing, lease }));
    await ok(
      updateStageCas(own, { ...printing, taskId: 'a', expected: 'printed', next: 'draft', lease, release: true }),
    );
    await ok(updateStageCas(own, printing));
    expect(rig.read('select stage from tasks')).toEqual([{ stage: 'printed' }, { stage: 'draft' }]);
    await ok(updateStageCas(off, { ...printing, expected: 'printed', next: 'filed' }));
    expect(rig.read('select stage from tasks')).toEqual([{ stage: 'filed' }, { stage: 'draft' }]);
  },

  'an unknown column is a store-failure, and nothing is written': async (rig) => {
    const a = rig.start('a');
    const set = { 'no"te': 1 } as never;
    expect(await err(updateStageCas(a.own(), { ...move, set }))).toMatchObject({
      kind: 'schema',
      outcome: 'not-applied',
    });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
  },
};

/** Triggers of the caller on the tasks. */
export const triggers: Proofs = {
  'a write that a trigger suppressed is told as not written, though the stage is the expected one': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.run('create trigger suppress before update of stage on tasks begin select raise(ignore); end');
    const lease = await ok(acquireLease(own, { taskId: 2, actor: 'monitor' }));
    for (const request of [
      move,
      { ...move, evenIfHeld: true },
      { ...move, taskId: 2, lease },
      { ...move, taskId: 2, lease, release: true },
    ])
      expect(await err(updateStageCas(own, request))).toMatchObject({
        type: 'lost-race',
        expected: 'deploy-staging',
        actual: 'deploy-staging',
        message: expect.stringContaining('a trigger or rule stopped it') as string,
      });
    expect(rig.task(1)).toMatchObject({ stage: 'deploy-staging' });
    expect(await ok(inspectLease(own, 2))).toMatchObject({ holder: { claim: lease.claim } });
    expect(a.told('stage.changed')).toEqual([]);
  },

  'a write that a trigger refused is a store-failure': async (rig) => {
    const a = rig.start('a');
    rig.run("create trigger refuse before update of stage on tasks begin select raise(abort, 'frozen'); end");
    expect(await err(updateStageCas(a.own(), move))).toMatchObject({ kind: 'constraint', outcome: 'not-applied' });
  },

  'a write whose row a trigger moved into a history was won': async (rig) => {
    const a = rig.start('a');
    rig.run('create table history as select * from tasks where 1 = 0');
    rig.run(
      'create trigger keep after update of stage on tasks begin insert into history select * from tasks where id = new.id; delete from tasks where id = new.id; end',
    );
    await ok(updateStageCas(a.own(), move));
    expect(rig.read('select stage from history')).toEqual([{ stage: 'deploy' }]);
    expect(rig.task(1)).toBeUndefined();
  },

  'a write that a trigger follows by another was won': async (rig) => {
    const a = rig.start('a');
    const own = a.own();
    rig.run(
      "create trigger onward after update of stage on tasks when new.stage = 'deploy' begin update tasks set stage = 'done' where id = new.id; end",
    );
    await ok(updateStageCas(own, move));
    expect(rig.task(1)).toMatchObject({ stage: 'done' });
  },

  "an audit trigger's own writes are not counted as ours": async (rig) => {
    const a = rig.start('a');
    rig.run('create table audit (task_id, stage)');
    rig.run(
      'create trigger audited after update of stage on tasks begin insert into audit values (new.id, new.stage), (new.id, old.stage); end',
    );
    await ok(updateStageCas(a.own(), move));
    expect(await err(updateStageCas(a.own(), move))).toMatchObject({ type: 'lost-race' });
    expect(rig.read('select count(*) as n from audit')).toEqual([{ n: 2 }]);
  },
};
