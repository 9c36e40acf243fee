import { sql } from 'kysely';
import { acquireLease, type Dialect, type Lease, ownedBy, updateStageCas } from 'transition-ownership';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mysqlServer, type Place, postgresServer, type Sessions, type TestServer } from './server.js';

/** A level at which all sessions of a test run, and what it is worth without the share lock. */
interface Level {
  readonly name: string;
  readonly begin: readonly string[];
  /** A read in a write locks what it reads: nobody takes over. */
  readonly locksReads: boolean;
  /** A row that somebody deleted meanwhile cannot be deleted: a release in the same statement undoes the late write. */
  readonly refusesDeleted: boolean;
  /** Who takes over looks at the task, which the late write changes: the two cannot be put in an order. */
  readonly ordersLooks: boolean;
}

const postgresLevels: readonly Level[] = ['read committed', 'repeatable read', 'serializable'].map((name) => ({
  name,
  begin: [`set default_transaction_isolation = '${name}'`],
  locksReads: false,
  refusesDeleted: name !== 'read committed',
  ordersLooks: name === 'serializable',
}));

const mysqlLevels: readonly Level[] = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'].flatMap(
  (name) =>
    ['off', 'on'].map((snapshot) => ({
      name: `${name}, innodb_snapshot_isolation ${snapshot}`,
      begin: [`set session transaction isolation level ${name}`, `set session innodb_snapshot_isolation = ${snapshot}`],
      locksReads: !['read uncommitted', 'read committed'].includes(name),
      refusesDeleted: false,
      ordersLooks: false,
    })),
);

type Outcome = { readonly wrote: boolean; readonly tookOverBefore: boolean };
type Write = (holder: ReturnType<Place['process']>, lease: Lease<number, string | null, number>) => Promise<boolean>;

/** The ways to write under a fence, each true if it wrote. */
const writes: Readonly<Record<string, Write>> = {
  updateStageCas: async ({ ownership }, lease) =>
    (await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease })).isOk(),
  'updateStageCas with release': async ({ ownership }, lease) =>
    (await updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done', lease, release: true })).isOk(),
  ownedBy: async ({ ownership, db }, lease) => {
    const fenced = sql`update tasks set stage = 'done' where id = 1 and ${sql`${ownedBy(ownership, lease)}`}`;
    const { numAffectedRows = 0n } = await fenced.execute(db).catch(refused);
    return numAffectedRows > 0n;
  },
};

/** A transaction that cannot be put in an order with another writes nothing. */
const refused = (error: unknown): { numAffectedRows?: bigint } => {
  if ((error as { code?: unknown }).code === '40001') return {};
  throw error;
};

/**
 * The holder's write has read its guard and waits for the row of its task, which somebody has locked; meanwhile another
 * process takes the lease over. Tells what came first.
 */
async function race(place: Place, sessions: Sessions, write: Write, dialect: Dialect): Promise<Outcome> {
  const holder = place.process(sessions, { dialect });
  const other = place.process(sessions);
  const lease = (await acquireLease(holder.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
  await place.expire();
  const blocker = await place.connect({ max: 1 }).startTransaction().execute();
  await sql`select * from tasks where id = 1 for update`.execute(blocker);
  const writing = write(holder, lease);
  await place.waiting(1);

  const takeOver = () => acquireLease(other.ownership, { taskId: 1, actor: 'reaper' });
  const taken = await takeOver();
  // Whoever has the row locked is not waited for.
  if (taken.isErr()) expect(taken.error).toMatchObject({ type: 'lease-busy', reason: 'locked' });
  await blocker.commit().execute();
  const wrote = await writing;
  if (taken.isErr()) expect((await takeOver()).isOk()).toBe(true);
  return { wrote, tookOverBefore: taken.isOk() };
}

function fence(server: TestServer, levels: readonly Level[]): void {
  describe.skipIf(server.missing !== undefined)(server.name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await server.make('fence');
    });
    beforeEach(() => place.reset());
    afterAll(() => place.drop());

    describe.each(levels)('at $name', ({ begin, locksReads, refusesDeleted, ordersLooks }) => {
      test.each(Object.entries(writes))(
        '%s: nobody takes over between the guard and the write',
        async (_name, write) => {
          const outcome = await race(place, { begin }, write, server.dialect);
          expect(outcome).toEqual({ wrote: true, tookOverBefore: false });
        },
      );

      test.each(Object.entries(writes))('%s: without the share lock the level alone decides', async (name, write) => {
        const outcome = await race(place, { begin }, write, { ...server.dialect, shareLock: sql`` });
        const wrote = !ordersLooks && !(refusesDeleted && name === 'updateStageCas with release');
        expect(outcome).toEqual({ wrote, tookOverBefore: !locksReads });
      });
    });
  });
}

fence(postgresServer, postgresLevels);
fence(mysqlServer, mysqlLevels);
