import { Kysely } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type OwnershipEvent,
  releaseLease,
  updateStageCas,
} from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { expect, test, vi } from 'vitest';
import { EventLoop } from '../../src/system/event-loop.js';
import { ok } from '../rig/proofs.js';

interface Tables {
  tasks: { id: number; stage: 'a' | 'b' };
}

/** A loop that awaits nothing but the library, for a while; `within` puts it into a transaction of the caller's. */
async function busyLoop(forMs: number, within: 'a transaction' | 'no transaction') {
  const events: OwnershipEvent[] = [];
  const db = new Kysely<Tables>({ dialect: openSqlite(':memory:') });
  await db.schema.createTable('tasks').addColumn('id', 'integer').addColumn('stage', 'text').execute();
  await db
    .insertInto('tasks')
    .values([
      { id: 1, stage: 'a' },
      { id: 2, stage: 'a' },
    ])
    .execute();
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    lease: { ttlMs: 600, renewEveryMs: 100 },
    onEvent: (event) => {
      if (event.type === 'lease.renewed' || event.type === 'lease.lost') events.push(event);
    },
  });
  await ok(ensureSchema(ownership));
  const bystander = await ok(acquireLease(ownership, { taskId: 2, actor: 'bystander' }));
  let timers = 0;
  const timer = setInterval(() => {
    timers += 1;
  }, 10);
  const untilMs = performance.now() + forMs;
  const transitions = async (by: Pick<typeof ownership, 'using'> & typeof ownership) => {
    for (let [from, to]: ('a' | 'b')[] = ['a', 'b']; performance.now() < untilMs; [from, to] = [to, from]) {
      if (from === undefined || to === undefined) break;
      const lease = await ok(acquireLease(by, { taskId: 1, actor: 'worker' }));
      await ok(updateStageCas(by, { taskId: 1, expected: from, next: to, lease }));
      await ok(releaseLease(by, lease));
    }
  };
  await (within === 'no transaction'
    ? transitions(ownership)
    : db.transaction().execute((trx) => transitions(ownership.using(trx))));
  clearInterval(timer);
  const lost = bystander.signal.aborted;
  await db.destroy();
  return { timers, lost, renewed: events.filter(({ type }) => type === 'lease.renewed').length };
}

test('transitions in a loop leave the event loop its turns: timers run, renewals are sent, no other lease is lost', async () => {
  const { timers, lost, renewed } = await busyLoop(5_000, 'no transaction');
  expect(timers).toBeGreaterThan(150);
  expect(renewed).toBeGreaterThan(15);
  expect(lost).toBe(false);
});

test('transitions in a loop inside a transaction leave the event loop its turns too', async () => {
  expect((await busyLoop(500, 'a transaction')).timers).toBeGreaterThan(10);
});

test('and without those turns nothing else would run', async () => {
  const due = vi.spyOn(EventLoop.prototype, 'due').mockReturnValue(undefined);
  try {
    expect(await busyLoop(1_000, 'no transaction')).toEqual({ timers: 0, lost: true, renewed: 0 });
  } finally {
    due.mockRestore();
  }
});
