import { Kysely, PostgresDialect, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type Mode,
  snapshot,
  withTransitionLease,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { describe, expect, test } from 'vitest';
import { makeSchemas, postgres, postgresPool } from '../contract/stores/postgres.js';

interface Database {
  tasks: { id: number; stage: 'deploy' | 'done' };
  transition_effect: Record<string, string | number | null>;
}

/** The orchestrator: nothing in it says on which database it runs. */
function orchestrator(db: Kysely<Database>, tokens: number[]) {
  let mode: Mode = 'on';
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    effects: {},
    mode: () => mode,
  });
  return {
    ownership,
    drain: () => (mode = 'draining'),
    /** The irreversible step, which tells the outside its token. */
    deploy: (taskId: number, key: string) =>
      withTransitionLease(ownership, { taskId, actor: 'finalizer' }, (held) =>
        held.runEffect({ effect: 'deploy', key, apply: ({ fencingToken }) => void tokens.push(fencingToken ?? 0) }),
      ).map(({ status }) => status),
  };
}

const makeTasks = (db: Kysely<Database>) => sql`create table tasks (id integer primary key, stage text)`.execute(db);

describe.skipIf(postgres.missing !== undefined)('from SQLite to PostgreSQL, as the README has it', () => {
  test('the code is the same, no effect is repeated, and fencing tokens go on', async () => {
    const tokens: number[] = [];
    const old = new Kysely<Database>({ dialect: openSqlite(':memory:') });
    await makeTasks(old);
    for (const id of [1, 2]) await old.insertInto('tasks').values({ id, stage: 'deploy' }).execute();
    const before = orchestrator(old, tokens);
    (await ensureSchema(before.ownership))._unsafeUnwrap();
    for (const key of ['0b5a3f1', '77c1e02']) expect((await before.deploy(1, key))._unsafeUnwrap()).toBe('applied');

    before.drain();
    const refused = await acquireLease(before.ownership, { taskId: 2, actor: 'monitor' });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'not-granting', reason: 'draining' });
    expect((await snapshot(before.ownership))._unsafeUnwrap()).toMatchObject({ leases: [], unfinishedEffects: 0 });

    const drop = await makeSchemas('from_sqlite');
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: postgresPool('from_sqlite') }) });
    await makeTasks(db);
    const after = orchestrator(db, tokens);
    (await ensureSchema(after.ownership))._unsafeUnwrap();
    await db
      .insertInto('tasks')
      .values(await old.selectFrom('tasks').selectAll().execute())
      .execute();
    const effects = await old.selectFrom('transition_effect').selectAll().execute();
    await db.insertInto('transition_effect').values(effects).execute();
    const { rows } = await sql<{
      seq: number;
    }>`select seq from sqlite_sequence where name = 'transition_lease'`.execute(old);
    const next = (rows[0]?.seq ?? 0) + 1;
    await sql`alter table transition_lease alter column fencing_token restart with ${sql.lit(next)}`.execute(db);

    expect((await after.deploy(1, '77c1e02'))._unsafeUnwrap()).toBe('already-applied');
    expect((await after.deploy(2, '77c1e02'))._unsafeUnwrap()).toBe('applied');
    expect(tokens).toEqual([1, 2, 4]);
    await Promise.all([old.destroy(), db.destroy()]);
    await drop();
  });
});
