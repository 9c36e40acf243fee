import { sql } from 'kysely';
import { claimNextJob, createJobReaper, resetRunOwnership, stampRunOwnership } from 'transition-ownership';
import { expect } from 'vitest';
import { identity } from './identity.js';
import { failure, ok, type Proofs, proveOn } from './proofs.js';
import { jobStores, mysqlStore } from './stores.js';

const coarse: Proofs = {
  'claims within one second are told apart by their nonces, and by nothing else': async (yard) => {
    const worker = yard.start('a');
    await yard.put();
    for (const [ownership, outcome] of [
      [worker.ownClaims(), 'superseded'],
      [worker.own(), 'stamped'], // what the doc comment of `jobs.claim` says is not promised without it
    ] as const) {
      const first = await ok(claimNextJob(ownership));
      await ok(resetRunOwnership(ownership, { jobId: 1, expected: 'any' }));
      await yard.advance(100);
      const second = await ok(claimNextJob(ownership));
      if (first === null || second === null) throw new Error('there is no job');
      expect(first.started).toBe(second.started);
      expect(await ok(stampRunOwnership(ownership, { job: first, runId: 7, pid: 77 }))).toBe(outcome);
      await ok(resetRunOwnership(ownership, { jobId: 1, expected: 'any' }));
    }
  },
};

proveOn(
  { ...mysqlStore, types: { ...mysqlStore.types, instant: 'datetime' } },
  'a column of whole seconds',
  { ...coarse, ...Object.fromEntries(Object.entries(identity).filter(([title]) => title.includes('within'))) },
  { suite: 'coarse' },
);

const narrow: Proofs = {
  'a stamp that a column cannot hold says so, leaves nothing, and its job goes back': async (yard) => {
    if (yard.dialect.name === 'sqlite') {
      await sql`create trigger narrow before update of host on jobs when length(new.host) > 4 begin
        select raise(abort, 'too long'); end`.execute(yard.outside);
    } else {
      const type = yard.dialect.name === 'mysql' ? sql`modify host varchar(4)` : sql`alter host type varchar(4)`;
      await sql`alter table jobs ${type}`.execute(yard.outside);
    }
    const worker = yard.start('a', { host: 'a host with a long name' });
    await yard.put();
    // Where a catalogue says how long a column is, nothing is claimed that could not be stamped.
    if (yard.dialect.name !== 'sqlite') {
      expect(await failure(claimNextJob(worker.ownClaims()))).toMatchObject({ kind: 'unsuitable' });
      expect(await yard.job(1)).toMatchObject({ status: 'queued', claim: null });
    }
    const ownership = worker.ownClaims({ survey: 'off' });
    const job = await ok(claimNextJob(ownership));
    if (job === null) throw new Error('there is no job');
    const failed = await failure(stampRunOwnership(ownership, { job, runId: 7, pid: 77 }));
    expect(failed).toMatchObject({ type: 'store-failure', retryable: false, outcome: 'not-applied' });
    expect(worker.told('store.failed').map(({ kind }) => kind)).toContain(failed.kind);
    expect(await yard.job(1)).toMatchObject({
      status: 'running',
      run_id: null,
      pid: null,
      host: null,
      pid_start: null,
    });

    // Nobody did that: the reaper takes it for a starting one until it has run for too long.
    const options = { deadTicks: 1, finalizeGraceMs: 0, maxRunningMs: 3_600_000, onDead: 'requeue' } as const;
    const reaper = createJobReaper(ownership, options);
    expect(await ok(reaper.tick())).toMatchObject({ starting: 1, reaped: 0 });
    const { jobId, runId, pid, claim } = job;
    expect(await ok(resetRunOwnership(ownership, { jobId, expected: { runId, pid, claim } }))).toMatchObject({
      reset: [1],
    });
    expect(await yard.job(1)).toMatchObject({ status: 'queued', claim: null, started_at: null });
  },
};

for (const store of jobStores) proveOn(store, 'a column that is too short', narrow, { suite: 'narrow' });

const cut: Proofs = {
  'a claim whose nonce was cut is taken back, and says so': async (yard) => {
    await sql`alter table jobs modify claim varchar(2)`.execute(yard.outside);
    const worker = yard.start('a');
    await yard.put();
    const lenient = worker.db.connection().execute(async (connection) => {
      await sql`set session sql_mode = ''`.execute(connection);
      return failure(claimNextJob(worker.ownClaims({ survey: 'off' }).using(connection)));
    });
    expect(await lenient).toMatchObject({ kind: 'schema' });
    expect((await lenient).message).toContain('Column claim must hold the whole nonce of the claim, and holds "a-"');
    expect(await yard.job(1)).toMatchObject({ status: 'queued', claim: null });
  },
};

proveOn(mysqlStore, 'a server that is not strict', cut, { suite: 'cut' });
