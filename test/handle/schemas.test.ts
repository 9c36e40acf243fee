import { sql } from 'kysely';
import {
  acquireLease,
  checkDialect,
  claimNextJob,
  createJobReaper,
  createTransitionOwnership,
  ensureSchema,
  ownedBy,
  releaseLease,
  resetRunOwnership,
  snapshot,
  stampRunOwnership,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { createEffectTable, createLeaseTable } from 'transition-ownership/migrations';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { err, ok } from '../rig/proofs.js';
import { jobs, places, type TwoSchemas, tasks } from './places.js';

describe.each(places)('$name', (kind) => {
  const { missing } = kind;
  let place: TwoSchemas;

  beforeEach(async () => {
    if (missing === undefined) place = await kind.make();
  });
  afterEach(async () => {
    if (missing === undefined) await place.drop();
  });
  const check = test.skipIf(missing !== undefined);

  const inOther = () => place.db.withSchema(place.other);
  const stages = async () => {
    const read = (schema: string) => place.db.withSchema(schema).selectFrom('tasks').select('stage').orderBy('id');
    const of = async (schema: string) => (await read(schema).execute()).map(({ stage }) => stage);
    return { own: await of(place.own), other: await of(place.other) };
  };
  const rowsOf = async (schema: string, table: string) =>
    (await sql<Record<string, unknown>>`select * from ${sql.id(schema, table)}`.execute(place.db)).rows;
  const asSaid = () => createTransitionOwnership({ db: inOther(), tasks, jobs, effects: {}, timeFormat: 'epoch-ms' });

  check('input 2: a handle on a schema moves the task of that schema, and leases it there', async () => {
    const [here, there] = [
      createTransitionOwnership({ db: place.db, tasks }),
      createTransitionOwnership({ db: inOther(), tasks }),
    ];
    expect(await ok(ensureSchema(here))).toBe('created');
    const lease = await ok(acquireLease(here, { taskId: 1, actor: 'here' }));
    const elsewhere = await err(ensureSchema(there));
    expect(elsewhere).toMatchObject({ kind: 'unsuitable', findings: [{ code: 'lease-elsewhere', severity: 'error' }] });
    // Whoever does not call ensureSchema is told the same by the survey, before anything is written.
    const refused = await err(acquireLease(there, { taskId: 1, actor: 'there' }));
    expect(refused).toMatchObject({ kind: 'unsuitable', findings: [{ code: 'lease-elsewhere', severity: 'error' }] });
    const said = createTransitionOwnership({ db: inOther(), tasks, lease: { schema: place.other } });
    expect(await ok(ensureSchema(said))).toBe('created');
    expect(await ok(ensureSchema(there))).toBe('unchanged');
    // The task of one schema is free while that of the other is held.
    const other = await ok(acquireLease(there, { taskId: 1, actor: 'there', stage: 'a' }));
    expect(
      await ok(updateStageCas(there, { taskId: 1, expected: 'a', next: 'b', lease: other, release: true })),
    ).toMatchObject({ released: true });
    expect(await ok(updateStageCas(there, { taskId: 2, expected: 'a', next: 'b' }))).toMatchObject({ to: 'b' });
    expect(await stages()).toEqual({ own: ['a', 'a'], other: ['b', 'b'] });
    expect(await rowsOf(place.own, 'transition_lease')).toHaveLength(1);
    expect(await rowsOf(place.other, 'transition_lease')).toHaveLength(0);
    await ok(releaseLease(here, lease));
  });

  check('input 2 by using: a transaction is on the schema of its ownership, or is refused by both names', async () => {
    const [here, there] = [createTransitionOwnership({ db: place.db, tasks }), asSaid()];
    await ok(ensureSchema(there));
    await ok(ensureSchema(here));
    const move = { taskId: 1, expected: 'a', next: 'b' } as const;
    await place.db.transaction().execute(async (trx) => {
      const foreign = `got "${place.other}.tasks" where the ownership has "tasks"`;
      expect(() => here.using(trx.withSchema(place.other))).toThrow(TypeError);
      expect(() => here.using(trx.withSchema(place.other))).toThrow(foreign);
      expect(() => there.using(trx)).toThrow(`got "tasks" where the ownership has "${place.other}.tasks"`);
      const lease = await ok(acquireLease(there.using(trx.withSchema(place.other)), { taskId: 1, actor: 'there' }));
      expect(await ok(updateStageCas(there.using(trx.withSchema(place.other)), { ...move, lease }))).toMatchObject({
        to: 'b',
      });
      expect(await ok(updateStageCas(here.using(trx), { ...move, taskId: 2 }))).toMatchObject({ to: 'b' });
    });
    expect(await stages()).toEqual({ own: ['a', 'b'], other: ['b', 'a'] });
  });

  check(
    'a dotted table passes over the schema of its handle, and the handle must still be on that schema',
    async () => {
      const dotted = { ...tasks, table: `${place.own}.tasks` } as never;
      const own = createTransitionOwnership({ db: inOther(), tasks: dotted });
      await ok(ensureSchema(own));
      expect(await ok(updateStageCas(own, { taskId: 1, expected: 'a', next: 'b' } as never))).toMatchObject({
        to: 'b',
      });
      expect(await stages()).toEqual({ own: ['b', 'a'], other: ['a', 'a'] });
      expect(await rowsOf(place.other, 'transition_lease')).toEqual([]);
      expect(() => own.using(place.db.withSchema('elsewhere'))).toThrow(
        `got "elsewhere" where the ownership has "${place.other}"`,
      );
    },
  );

  check('jobs and effects are those of the schema', async () => {
    const own = asSaid();
    await ok(ensureSchema(own));
    expect((await ok(checkDialect(own))).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    const job = await ok(
      claimNextJob(own, {
        where: (eb) => eb('jobs.attempts', '=', 0),
        set: { attempts: (eb) => eb('attempts', '+', 1) },
      }),
    );
    expect(job).toMatchObject({ jobId: 1, taskId: 1, row: { id: 1, status: 'running', attempts: 1 } });
    if (job === null) throw new Error('there is a job');
    expect(await ok(stampRunOwnership(own, { job, runId: 7, pid: process.pid }))).toBe('stamped');
    const reaper = createJobReaper(own, { finalizeGraceMs: 0, maxRunningMs: 4 * 3_600_000, onDead: 'requeue' });
    expect(await ok(reaper.tick())).toMatchObject({ examined: 1, alive: 1 });
    const done = withTransitionLease(own, { taskId: 1, actor: 'worker', stage: 'a' }, async (held) => {
      expect((await ok(snapshot(own))).leases).toMatchObject([{ taskId: 1 }]);
      await ok(held.runEffect({ effect: 'deploy', key: 'k', needsMs: 1_000, apply: () => 'done' }));
      return held.updateStage('b', { release: true });
    });
    expect(await ok(done)).toMatchObject({ to: 'b' });
    expect(await ok(resetRunOwnership(own, { jobId: 1, expected: { runId: 7, pid: process.pid } }))).toMatchObject({
      reset: [1],
    });
    expect(await rowsOf(place.other, 'jobs')).toMatchObject([{ status: 'queued', attempts: 1, run_id: null }]);
    expect(await rowsOf(place.own, 'jobs')).toMatchObject([{ status: 'queued', attempts: 0 }]);
    expect(await rowsOf(place.other, 'transition_effect')).toMatchObject([{ effect: 'deploy', state: 'applied' }]);
    expect(await stages()).toEqual({ own: ['a', 'a'], other: ['b', 'a'] });
  });

  check('ownedBy fences a statement of the caller’s that is sent over the handle', async () => {
    const own = asSaid();
    await ok(ensureSchema(own));
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'worker' }));
    const write = () =>
      inOther()
        .updateTable('tasks')
        .set({ note: 'mine' })
        .where('id', '=', 1)
        .where(ownedBy(own, lease))
        .executeTakeFirst();
    expect(await write()).toMatchObject({ numUpdatedRows: 1n });
    await ok(releaseLease(own, lease));
    expect(await write()).toMatchObject({ numUpdatedRows: 0n });
  });

  check('the migrations make and drop their tables where the handle looks for them', async () => {
    for (const migration of [createLeaseTable(), createEffectTable()]) await migration.up(inOther());
    const own = asSaid();
    expect(await ok(ensureSchema(own))).toBe('unchanged');
    expect(await rowsOf(place.other, 'transition_effect')).toEqual([]);
    for (const migration of [createEffectTable(), createLeaseTable()]) await migration.down(inOther());
    expect(await ok(ensureSchema(own))).toBe('created');
  });

  check('input 15: a lease is live to an ownership that spells its table another way', async () => {
    const own = createTransitionOwnership({ db: place.db, tasks });
    const spelled = createTransitionOwnership({ db: place.db, tasks, lease: { schema: place.own } });
    await ok(ensureSchema(own));
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'first' }));
    expect(await err(acquireLease(spelled, { taskId: 1, actor: 'second' }))).toMatchObject({
      verdict: 'live',
      reason: 'claim-registered',
    });
    await ok(releaseLease(own, lease));
    const second = await ok(acquireLease(spelled, { taskId: 1, actor: 'second' }));
    expect(await err(acquireLease(own, { taskId: 1, actor: 'first' }))).toMatchObject({ verdict: 'live' });
    await ok(releaseLease(spelled, second));
  });
});
