import { Kysely, sql } from 'kysely';
import pg from 'pg';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  inspectLease,
  releaseLease,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { type OpenPostgresOptions, openPostgres } from 'transition-ownership/postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NamedStatements } from '../../src/postgres/named-statements.js';
import { NamingClient } from '../../src/postgres/naming-client.js';
import { asOwn } from '../../src/sql/own-statement.js';
import { ownName } from '../contract/store.js';
import { makeSchemas, postgres, postgresAddress, postgresPool } from '../contract/stores/postgres.js';
import { err, ok } from '../rig/proofs.js';
import { Bouncer, bouncerVersion, KEEPS_PREPARED } from './bouncer.js';

interface Tables {
  tasks: { id: number; stage: string; note: string | null };
}

const tasks = { table: 'tasks', id: 'id', stage: 'stage' } as const;
const request = { taskId: 1, actor: 'worker', stage: 'a' } as const;
const schema = ownName('open_postgres');

const check = test.skipIf(postgres.missing !== undefined);

describe('openPostgres', () => {
  const opened: { destroy(): Promise<void> }[] = [];
  let drop: () => Promise<void>;

  beforeEach(async () => {
    if (postgres.missing === undefined) drop = await makeSchemas(schema);
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.destroy();
    if (postgres.missing === undefined) await drop();
  });

  const open = (options: Partial<OpenPostgresOptions> = {}) => {
    const db = new Kysely<Tables>({ dialect: openPostgres({ pool: postgresPool(schema, { max: 1 }), ...options }) });
    opened.push(db);
    return db;
  };
  const make = async (db: Kysely<Tables>) => {
    await sql`create table if not exists tasks (id integer primary key, stage text not null, note text)`.execute(db);
    await sql`insert into tasks values (1, 'a'), (2, 'a') on conflict do nothing`.execute(db);
    const ownership = createTransitionOwnership({ db, tasks });
    await ok(ensureSchema(ownership));
    return ownership;
  };
  const transition = (ownership: Awaited<ReturnType<typeof make>>, from: string, to: string) =>
    ok(withTransitionLease(ownership, { ...request, stage: from }, (held) => held.updateStage(to, { release: true })));
  const prepared = async (db: Kysely<Tables>) =>
    (await sql<{ name: string; statement: string }>`select name, statement from pg_prepared_statements`.execute(db))
      .rows;

  check('has each statement of the library prepared once a session, and none of the caller', async () => {
    const db = open();
    const ownership = await make(db);
    await db.selectFrom('tasks').selectAll().execute();
    for (const [from, to] of [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ] as const)
      await transition(ownership, from, to);
    const kept = await prepared(db);
    expect(kept.some(({ statement }) => /^insert into "transition_lease"/.test(statement))).toBe(true);
    expect(kept.some(({ statement }) => /^with written as \(update "tasks"/.test(statement))).toBe(true);
    for (const { name } of kept) expect(name).toMatch(/^transition_ownership_[0-9a-f]{24}$/);
    expect(kept.filter(({ statement }) => statement === 'select * from "tasks"')).toEqual([]);
  });

  check('has none prepared with prepare: false', async () => {
    const db = open({ prepare: false });
    await transition(await make(db), 'a', 'b');
    expect(await prepared(db)).toEqual([]);
  });

  check('sends a statement again, once, whose plan a migration has made unfit', async () => {
    const db = open();
    const ownership = await make(db);
    const lease = await ok(acquireLease(ownership, request));
    for (const length of [300, 400]) {
      expect(await ok(inspectLease(ownership, 1))).toMatchObject({ state: 'held', holder: { actor: 'worker' } });
      await sql.raw(`alter table transition_lease alter column owner type varchar(${length})`).execute(db);
    }
    expect(await ok(inspectLease(ownership, 1))).toMatchObject({ state: 'held', holder: { actor: 'worker' } });
    await ok(releaseLease(ownership, lease));
  });

  check('in a transaction, where nothing can be sent again, tells of that plan', async () => {
    const db = open({ pool: postgresPool(schema, { max: 2 }) });
    const ownership = await make(db);
    const lease = await ok(acquireLease(ownership, request));
    await db.connection().execute(async (connection) => {
      await ok(inspectLease(ownership.using(connection), 1));
      await sql`alter table transition_lease alter column owner type varchar(300)`.execute(connection);
      let failure: unknown;
      // A look ends no transaction, also where it fails.
      await connection.transaction().execute(async (trx) => {
        failure = await err(inspectLease(ownership.using(trx), 1));
      });
      expect(failure).toMatchObject({
        type: 'store-failure',
        outcome: 'not-applied',
        message: expect.stringContaining('cached plan must not change result type') as string,
      });
      expect(await ok(inspectLease(ownership.using(connection), 1))).toMatchObject({ state: 'held' });
    });
    await ok(releaseLease(ownership, lease));
  });

  check('makes its pool when it is needed, and ends it with the handle', async () => {
    let made: pg.Pool | undefined;
    const db = new Kysely<Tables>({
      dialect: openPostgres({
        pool: async () => {
          made = postgresPool(schema);
          return made;
        },
      }),
    });
    expect(made).toBeUndefined();
    await transition(await make(db), 'a', 'b');
    await db.destroy();
    expect(made?.ended).toBe(true);
  });

  const bounced = test.skipIf(postgres.missing !== undefined || bouncerVersion === 0);
  const { connectionString = '' } = postgres.missing === undefined ? postgresAddress(schema) : {};
  if (bouncerVersion === 0) process.stderr.write('skipped: there is no pgbouncer\n');

  /** Many transitions at once over two sessions that go from one client to another. */
  async function throughBouncer(prepare: boolean) {
    await make(open());
    await using bouncer = await Bouncer.before(connectionString, schema);
    const pool = new pg.Pool({ connectionString: bouncer.url, max: 8 });
    pool.on('error', () => {});
    const db = new Kysely<Tables>({ dialect: openPostgres({ pool, prepare }) });
    const ownership = createTransitionOwnership({ db, tasks });
    for (let id = 3; id < 20; id += 1) await sql`insert into tasks values (${id}, 'a')`.execute(db);
    const move = async (id: number) => {
      for (const [from, to] of [
        ['a', 'b'],
        ['b', 'a'],
        ['a', 'b'],
      ] as const) {
        const lease = await ok(acquireLease(ownership, { taskId: id, actor: 'worker', stage: from }));
        await ok(updateStageCas(ownership, { taskId: id, expected: from, next: to, lease, release: true }));
      }
    };
    await Promise.all(Array.from({ length: 17 }, (_, at) => move(at + 3)));
    const { rows } = await sql<{ name: string }>`select name from pg_prepared_statements`.execute(db);
    await db.destroy();
    return rows.filter(({ name }) => name.startsWith('transition_ownership')).length;
  }

  bounced('goes through PgBouncer in transaction mode with prepare: false', async () => {
    expect(await throughBouncer(false)).toBe(0);
  });

  bounced(
    'and with prepare: true, by name where PgBouncer keeps names, else as text from the first one that is lost',
    async () => {
      const kept = await throughBouncer(true);
      if (bouncerVersion >= KEEPS_PREPARED) expect(kept).toBeGreaterThan(0);
    },
  );

  test('refuses options that are none', () => {
    const pool = { connect: () => Promise.reject(new Error('never')), end: async () => {} };
    for (const [options, message] of [
      [{}, 'pool must be a pool of pg, or a function that makes one, got undefined'],
      [{ pool: { end: () => {} } }, 'pool.connect must be a function'],
      [{ pool, prepare: 'yes' }, 'prepare must be a boolean'],
      [{ pool, prepared: false }, 'options has no option "prepared"; did you mean "prepare"?'],
      [{ pool, cursor: {} }, 'cursor must be a function'],
    ] as const) {
      expect(() => openPostgres(options as unknown as OpenPostgresOptions)).toThrow(message);
    }
  });
});

describe('a client that names statements', () => {
  type Sent = { readonly name?: string; readonly text: string };

  /** A client that fails in the given ways, one statement after the other. */
  function client(...failures: (string | undefined)[]) {
    const sent: Sent[] = [];
    const query = async (asked: string | Sent) => {
      sent.push(typeof asked === 'string' ? { text: asked } : { name: asked.name ?? '', text: asked.text });
      const code = failures.shift();
      if (code === undefined) return { command: 'SELECT', rowCount: 0, rows: [] };
      throw Object.assign(new Error(code === '0A000' ? 'cached plan must not change result type' : code), { code });
    };
    const statements = new NamedStatements({ prepare: true });
    const { queryId, query: node } = sql`select 1`.compile(
      new Kysely<object>({ dialect: openPostgres({ pool: neverPool }) }),
    );
    statements.see(asOwn({ sql: 'select 1', parameters: [], queryId, query: node }));
    return { sent, statements, client: new NamingClient({ query, release: () => {} } as never, statements) };
  }
  const neverPool = { connect: () => Promise.reject(new Error('never')), end: async () => {} };
  const names = (sent: readonly Sent[]) => sent.map(({ name }) => name?.replace(/[0-9a-f]{24}/, '#'));

  test.each(['26000', '42P05'])('goes on as text where the session lost a name (%s)', async (code) => {
    const { sent, client: naming } = client(code);
    await naming.query('select 1', []);
    await naming.query('select 1', []);
    expect(names(sent)).toEqual(['transition_ownership_#', undefined, undefined]);
  });

  test('takes another name where a plan is unfit', async () => {
    const { sent, client: naming } = client('0A000');
    await naming.query('select 1', []);
    await naming.query('select 1', []);
    expect(names(sent)).toEqual(['transition_ownership_#', undefined, 'transition_ownership_#_1']);
  });

  test('sends nothing again that failed otherwise, and never twice', async () => {
    const { sent, client: naming } = client('23505', '0A000', '40001', '0A000', '25P02');
    await expect(naming.query('select 1', [])).rejects.toThrow('23505');
    await expect(naming.query('select 1', [])).rejects.toThrow('40001');
    await expect(naming.query('select 1', [])).rejects.toThrow('cached plan');
    expect(sent).toHaveLength(5);
  });

  test('names two hundred statements and no more, and none of the caller', () => {
    const { statements } = client();
    const { queryId, query } = sql`select 1`.compile(
      new Kysely<object>({ dialect: openPostgres({ pool: neverPool }) }),
    );
    for (let at = 0; at < 300; at += 1) statements.see(asOwn({ sql: `select ${at}`, parameters: [], queryId, query }));
    statements.see({ sql: 'select now()', parameters: [], queryId, query });
    expect(statements.nameOf('select 100')).toBeDefined();
    expect(statements.nameOf('select 299')).toBeUndefined();
    expect(statements.nameOf('select now()')).toBeUndefined();
  });
});
