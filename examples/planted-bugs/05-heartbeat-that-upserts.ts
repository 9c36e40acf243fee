import { sql } from 'kysely';
import { withTransitionLease } from 'transition-ownership';
import type { Process } from 'transition-ownership/testing';
import { endedByItsOwnerAlone, pausedPastTheLease, TTL_MS, takeByHand } from './hand-lease.js';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Renews its lease by writing the row, whoever's it is. A late heartbeat takes the lease back from its successor.
 *
 * The corrected one renews by an UPDATE of its own claim: where there is none, it learns that it has lost.
 */
const heartbeat = async (process: Process<Tables>): Promise<void> => {
  const { db, name, pid, clock } = process;
  if (!(await takeByHand(process))) return;
  await sql`insert into hand_lease (task_id, owner, pid, expires_ms) values (1, ${name}, ${pid}, ${clock.now() + TTL_MS})
    on conflict (task_id) do update set owner = excluded.owner, expires_ms = excluded.expires_ms`.execute(db);
};

const renewOwn = async ({ createOwnership, name, work }: Process<Tables>): Promise<void> => {
  void (await withTransitionLease(createOwnership(options), { taskId: 1, actor: name }, async (held) => {
    await work();
    return held.ensure(1_000);
  }));
};

export const heartbeatThatUpserts: PlantedBug = {
  name: 'heartbeat that upserts',
  broken: {
    ...seeded,
    processes: { A: heartbeat, B: heartbeat },
    faults: pausedPastTheLease,
    invariant: endedByItsOwnerAlone,
  },
  corrected: {
    ...seeded,
    processes: { A: renewOwn, B: renewOwn },
    faults: pausedPastTheLease,
    invariant: endedByItsOwnerAlone,
  },
};
