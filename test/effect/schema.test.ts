import { Kysely, sql } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema, resolveEffect, runEffect } from 'transition-ownership';
import { createEffectTable } from 'transition-ownership/migrations';
import { openSqlite } from 'transition-ownership/sqlite';
import { expect, test } from 'vitest';
import { ok } from '../rig/proofs.js';
import { openRig, tasks } from '../rig/rig.js';
import { begin, Outside } from './outside.js';

const tables = (rig: { read(text: string): Record<string, unknown>[] }) =>
  rig
    .read(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`)
    .map(({ name }) => name);

test('ensureSchema makes the journal only for an ownership that has one, and says so when it makes either table', async () => {
  await using rig = await openRig();
  const a = rig.start('a');
  expect(await ok(ensureSchema(a.own()))).toBe('unchanged');
  expect(tables(rig)).toEqual(['tasks', 'transition_lease']);
  expect(await ok(ensureSchema(a.own({ effects: {} })))).toBe('created');
  expect(tables(rig)).toEqual(['tasks', 'transition_effect', 'transition_lease']);
  expect(await ok(ensureSchema(a.own({ effects: {} })))).toBe('unchanged');
  expect(await ok(ensureSchema(a.own({ effects: { table: 'other' }, lease: { table: 'another' } })))).toBe('created');
  expect(tables(rig)).toEqual(['another', 'other', 'tasks', 'transition_effect', 'transition_lease']);
});

test('ensureSchema says upgraded when it upgrades the leases and makes the journal', async () => {
  await using rig = await openRig();
  rig.run('drop table transition_lease');
  rig.run(`create table transition_lease (task_id integer primary key, owner text not null, owner_pid integer,
    owner_boot_id text, run_id integer, stage text, acquired_at text not null default (datetime('now')))`);
  const a = rig.start('a');
  expect(await ok(ensureSchema(a.own({ effects: {} })))).toBe('upgraded');
});

test('the journal keeps one row an effect, and finds the unfinished ones without reading the others', async () => {
  await using rig = await openRig();
  const a = rig.start('a');
  const { own, lease, outside } = await begin(a);
  await ok(runEffect(own, lease, outside.merging()));
  const again = () =>
    rig.run(`insert into transition_effect select task_id, effect, key, 'other', fencing_token, owner, state, result,
      started_ms, applied_ms from transition_effect`);
  expect(again).toThrow(/UNIQUE/);
  const plan = rig.read(`explain query plan select count(*) from transition_effect where state = 'started'`);
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/SEARCH .* \(state=\?\)/)]);
});

test('createEffectTable makes the table that an ownership with the same options uses, and takes it back', async () => {
  const db = new Kysely<{ tasks: { id: string; stage: string; updated_at: string } }>({
    dialect: openSqlite(':memory:'),
  });
  await sql`create table tasks (id text primary key, stage text, updated_at text)`.execute(db);
  const migration = createEffectTable({ table: 'deploy_effect', taskIdType: 'text' });
  await migration.up(db);
  await migration.up(db);
  const own = createTransitionOwnership({
    db,
    tasks,
    lease: { taskIdType: 'text' },
    effects: { table: 'deploy_effect' },
  });
  expect(await ok(ensureSchema(own))).toBe('created');
  expect(await ok(ensureSchema(own))).toBe('unchanged');
  const word = {
    taskId: 'a',
    effect: 'merge_pr',
    key: 'c0ffee',
    outcome: 'applied',
    by: 'ada',
    reason: 'seen',
  } as const;
  expect(await ok(resolveEffect(own, word))).toBe('not-found');
  await migration.down(db);
  await migration.down(db);
  expect(await ok(ensureSchema(own))).toBe('created');
  await db.destroy();
  expect(() => createEffectTable({ table: 'a b' })).toThrow(RangeError);
  expect(() => createEffectTable({ schema: '' })).toThrow(RangeError);
});

test('bigint and text ids of tasks are kept exactly, and are other effects than their neighbours', async () => {
  const db = new Kysely<{
    big: { id: bigint; stage: string };
    text: { id: string; stage: string };
  }>({ dialect: openSqlite(':memory:') });
  await sql`create table big (id integer primary key, stage text)`.execute(db);
  await sql`create table text (id text primary key, stage text)`.execute(db);
  const big = createTransitionOwnership({
    db,
    tasks: { table: 'big', id: 'id', stage: 'stage' },
    lease: { taskIdType: 'bigint', table: 'big_lease' },
    effects: { table: 'big_effect' },
  });
  const text = createTransitionOwnership({
    db,
    tasks: { table: 'text', id: 'id', stage: 'stage' },
    lease: { taskIdType: 'text', table: 'text_lease' },
    effects: { table: 'text_effect' },
  });
  await sql`insert into big (id) values (9007199254740992), (9007199254740993)`.execute(db);
  await sql`insert into text (id) values ('7'), ('07'), ('a'), ('A')`.execute(db);
  await ok(ensureSchema(big));
  await ok(ensureSchema(text));
  const outside = new Outside();
  for (const taskId of [2n ** 53n, 2n ** 53n + 1n]) {
    const lease = await ok(acquireLease(big, { taskId, actor: 'finalizer' }));
    expect(await ok(runEffect(big, lease, outside.merging()))).toMatchObject({ status: 'applied' });
    expect(await ok(runEffect(big, lease, outside.merging()))).toMatchObject({ status: 'already-applied' });
  }
  for (const taskId of ['7', '07', 'a', 'A']) {
    const lease = await ok(acquireLease(text, { taskId, actor: 'finalizer' }));
    expect(await ok(runEffect(text, lease, outside.merging()))).toMatchObject({ status: 'applied' });
  }
  expect(new Set(outside.applied.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(6);
  await ok(big.close());
  await ok(text.close());
  await db.destroy();
});
