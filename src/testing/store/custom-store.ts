import { sql } from 'kysely';
import { membersOf } from './members-of.js';
import { type AnyTables, type StoreErrors, type TestStore } from './store.js';

/** What `customStore` must be given; the rest has defaults. */
export type CustomStore<DB> = Pick<TestStore<DB>, 'name' | 'admin' | 'connect' | 'reset' | 'snapshot'> &
  Partial<Omit<TestStore<DB>, 'name' | 'admin' | 'connect' | 'reset' | 'snapshot'>>;

/**
 * A store over any other Kysely dialect, from the five members that no one else can write.
 *
 * Without a clock of its own it keeps one in the one-row table `simulated_clock`, which `open` makes: leave that table
 * out of `snapshot` and of `reset`. A database with snapshots inside transactions should bring a better one.
 *
 * @example
 * ```ts
 * import { customStore } from 'transition-ownership/testing';
 * import { store } from './scenario.js';
 *
 * const { admin, connect, reset, snapshot } = store; // of your own database
 * const own = customStore({ name: 'libsql', admin, connect, reset, snapshot });
 * ```
 */
export function customStore<DB = AnyTables>(members: CustomStore<DB>): TestStore<DB> {
  const clock = members.nowMs === undefined && members.setNow === undefined;
  if (!clock && (members.nowMs === undefined || members.setNow === undefined)) {
    throw new TypeError('customStore needs both nowMs and setNow, or neither');
  }
  const { admin } = members;
  return {
    isBusy: () => false,
    errors: plainErrors,
    nowMs: sql<number>`(select now_ms from simulated_clock)`,
    setNow: async (nowMs) => void (await sql`update simulated_clock set now_ms = ${nowMs}`.execute(admin)),
    close: () => admin.destroy(),
    ...membersOf(members),
    async open() {
      if (clock) await makeClock(members);
      await members.open?.();
    },
  };
}

async function makeClock<DB>({ admin }: Pick<TestStore<DB>, 'admin'>): Promise<void> {
  await sql`create table if not exists simulated_clock (now_ms bigint not null)`.execute(admin);
  await sql`delete from simulated_clock`.execute(admin);
  await sql`insert into simulated_clock (now_ms) values (0)`.execute(admin);
}

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

const plainErrors: StoreErrors = Object.freeze({
  failed: () => coded('40001', 'injected: the statement was refused and did nothing'),
  connectionLost: () => coded('ECONNRESET', 'injected: the statement ran, its reply was lost'),
  diskFull: () => coded('53100', 'injected: no space left on device'),
});
