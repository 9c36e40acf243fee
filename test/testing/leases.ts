import { type Kysely, sql } from 'kysely';
import { invariant, type Process, type Scenario, type World } from '../../src/testing/index.js';

/** The tables of the leases below. */
export interface LeaseTables {
  lease: { task: string; owner: string; boot_id: string; fencing_token: number | string; expires_ms: number | string };
  stage: { task: string; stage: string; fencing_token: number; version: number };
}

export interface Grant {
  readonly fencingToken: number;
  readonly expiresMs: number;
}

export interface Asking {
  readonly task: string;
  readonly owner: string;
  readonly bootId: string;
  readonly nowMs: number;
}

export interface Write {
  readonly task: string;
  readonly grant: Grant;
  readonly expected: string | null;
  readonly next: string;
}

/** A lease to test the simulator with: one is right, the others are each wrong in a way that people really had. */
export interface LeaseCode {
  readonly guarded: boolean;
  acquire(db: Kysely<LeaseTables>, asking: Asking): Promise<Grant | null>;
  write(db: Kysely<LeaseTables>, write: Write): Promise<boolean>;
}

export const ttlMs = 100;

export const migrateLease =
  ({ guarded }: Pick<LeaseCode, 'guarded'>) =>
  async (db: Kysely<LeaseTables>) => {
    const key = sql.raw(guarded ? 'primary key' : '');
    await sql`create table lease (task varchar(20) not null ${key}, owner varchar(20) not null, boot_id varchar(20) not null, fencing_token bigint not null, expires_ms bigint not null)`.execute(
      db,
    );
    await sql`create table stage (task varchar(20) not null ${key}, stage varchar(20) not null, fencing_token bigint not null, version bigint not null)`.execute(
      db,
    );
  };

const fencedWrite: LeaseCode['write'] = async (db, { task, grant, expected, next }) => {
  const fenced = sql`exists (select 1 from lease where task = ${task} and fencing_token = ${grant.fencingToken})`;
  const written =
    expected === null
      ? await sql`insert into stage (task, stage, fencing_token, version) select ${task}, ${next}, fencing_token, 1 from lease where task = ${task} and fencing_token = ${grant.fencingToken} on conflict do nothing`.execute(
          db,
        )
      : await sql`update stage set stage = ${next}, fencing_token = ${grant.fencingToken}, version = version + 1 where task = ${task} and stage = ${expected} and ${fenced}`.execute(
          db,
        );
  return written.numAffectedRows === 1n;
};

export const rightLease: LeaseCode = {
  guarded: true,
  write: fencedWrite,
  async acquire(db, { task, owner, bootId, nowMs }) {
    const granted = await sql<Pick<LeaseTables['lease'], 'fencing_token' | 'expires_ms'>>`
      insert into lease (task, owner, boot_id, fencing_token, expires_ms) values (${task}, ${owner}, ${bootId}, 1, ${nowMs + ttlMs})
      on conflict (task) do update set owner = excluded.owner, boot_id = excluded.boot_id, fencing_token = lease.fencing_token + 1, expires_ms = excluded.expires_ms
      where lease.expires_ms <= ${nowMs} returning fencing_token, expires_ms`.execute(db);
    const row = granted.rows[0];
    return row === undefined ? null : { fencingToken: Number(row.fencing_token), expiresMs: Number(row.expires_ms) };
  },
};

/** Looks, then inserts; no unique key stands behind it. */
export const checkThenAct: LeaseCode = {
  guarded: false,
  write: fencedWrite,
  async acquire(db, { task, owner, bootId, nowMs }) {
    const found = await sql<
      LeaseTables['lease']
    >`select * from lease where task = ${task} order by fencing_token desc limit 1`.execute(db);
    const holder = found.rows[0];
    if (holder !== undefined && Number(holder.expires_ms) > nowMs) return null;
    const fencingToken = Number(holder?.fencing_token ?? 0) + 1;
    const expiresMs = nowMs + ttlMs;
    await sql`insert into lease (task, owner, boot_id, fencing_token, expires_ms) values (${task}, ${owner}, ${bootId}, ${fencingToken}, ${expiresMs})`.execute(
      db,
    );
    return { fencingToken, expiresMs };
  },
};

/** Inserts under a key, but takes an expired lease over by reading it and updating whatever is there by then. */
export const racyTakeover: LeaseCode = {
  guarded: true,
  write: fencedWrite,
  async acquire(db, { task, owner, bootId, nowMs }) {
    const expiresMs = nowMs + ttlMs;
    const inserted =
      await sql`insert into lease (task, owner, boot_id, fencing_token, expires_ms) values (${task}, ${owner}, ${bootId}, 1, ${expiresMs}) on conflict do nothing`.execute(
        db,
      );
    if (inserted.numAffectedRows === 1n) return { fencingToken: 1, expiresMs };
    const found = await sql<LeaseTables['lease']>`select * from lease where task = ${task}`.execute(db);
    const holder = found.rows[0];
    if (holder === undefined || Number(holder.expires_ms) > nowMs) return null;
    const fencingToken = Number(holder.fencing_token) + 1;
    await sql`update lease set owner = ${owner}, boot_id = ${bootId}, fencing_token = ${fencingToken}, expires_ms = ${expiresMs} where task = ${task}`.execute(
      db,
    );
    return { fencingToken, expiresMs };
  },
};

/** Acquires as it should, and then writes the stage without asking whether the lease is still its own. */
export const unfencedWrite: LeaseCode = {
  ...rightLease,
  async write(db, { task, grant, expected, next }) {
    const written =
      expected === null
        ? await sql`insert into stage (task, stage, fencing_token, version) values (${task}, ${next}, ${grant.fencingToken}, 1) on conflict do nothing`.execute(
            db,
          )
        : await sql`update stage set stage = ${next}, fencing_token = ${grant.fencingToken}, version = version + 1 where task = ${task}`.execute(
            db,
          );
    return expected === null || written.numAffectedRows === 1n;
  },
};

/** Looks and acts inside a transaction: safe on SQLite, broken at READ COMMITTED. */
export const checkThenActInTransaction: LeaseCode = {
  ...checkThenAct,
  acquire: (db, asking) => db.transaction().execute((transaction) => checkThenAct.acquire(transaction, asking)),
};

const twoStages = [
  [null, 's1'],
  ['s1', 's2'],
] as const;

/** Takes the lease, then moves the stage from nothing over s1 to s2, each time under the lease. */
export const worker =
  (code: LeaseCode, task = 't', stages: readonly (readonly [string | null, string])[] = twoStages) =>
  async (process: Process<LeaseTables>): Promise<string> => {
    const nowMs = process.clock.now();
    const asking = { task, owner: process.name, bootId: process.bootId, nowMs };
    const grant = await process.op(
      { verb: 'acquire', taskId: task, owner: process.name, atMs: nowMs, ttlMs },
      async () => {
        const granted = await code.acquire(process.db, asking);
        return granted === null ? null : { fencingToken: granted.fencingToken, expiresMs: granted.expiresMs };
      },
    );
    if (grant === null) return 'busy';
    process.ghost({ saw: 'grant', task, token: grant.fencingToken });
    for (const [expected, next] of stages) {
      await process.work();
      const written = await process.op(
        { verb: 'write', taskId: task, fencingToken: grant.fencingToken, expected, next },
        () => code.write(process.db, { task, grant, expected, next }),
      );
      process.ghost({ saw: 'write', task, token: grant.fencingToken, next, written });
      if (!written && expected !== null) return 'fenced';
    }
    return 'done';
  };

const seen = (world: World<LeaseTables>, what: string) => world.facts.filter((fact) => fact['saw'] === what);

export const oneGrantPerToken = invariant<LeaseTables>('a fencing token is granted once', (world) => {
  const owners = new Map<unknown, string>();
  for (const { process, token } of seen(world, 'grant') as { process: string; token: unknown }[] &
    ReturnType<typeof seen>) {
    const other = owners.get(token);
    if (other !== undefined) return `token ${String(token)} was granted to ${other} and to ${process}`;
    owners.set(token, process);
  }
  return true;
});

export const noStaleWrite = invariant<LeaseTables>('no write of an older token after a newer one', (world) => {
  let highest = 0;
  for (const fact of seen(world, 'write')) {
    if (fact['written'] !== true) continue;
    const token = Number(fact['token']);
    if (token < highest) return `token ${token} wrote ${String(fact['next'])} after token ${highest} had written`;
    highest = token;
  }
  return true;
});

export const workers = (
  code: LeaseCode,
  names: string,
  faults: NonNullable<Scenario['faults']> = {},
  main = worker(code),
): Scenario<LeaseTables> => ({
  processes: Object.fromEntries(names.split('').map((name) => [name, main])),
  faults,
  invariant: [oneGrantPerToken, noStaleWrite],
});
