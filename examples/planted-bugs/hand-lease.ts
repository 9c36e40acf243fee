import { sql } from 'kysely';
import { type Invariant, invariant, type Process, type ProcessView, type Row } from 'transition-ownership/testing';
import type { Tables } from './planted-bug.js';

/** How long a lease written by hand lives, in ms. */
export const TTL_MS = 30_000;

/** One process stands still until its lease is over; no renewal comes in between. */
export const pausedPastTheLease = { clockJumps: 1, jumpsMs: [TTL_MS], timers: 0 } as const;

/** Takes the lease if it is free or expired: one statement, and right as far as it goes. */
export async function takeByHand({ db, name, pid, clock }: Process<Tables>): Promise<boolean> {
  const nowMs = clock.now();
  const taken =
    await sql`insert into hand_lease (task_id, owner, pid, expires_ms) values (1, ${name}, ${pid}, ${nowMs + TTL_MS})
    on conflict (task_id) do update set owner = excluded.owner, pid = excluded.pid, expires_ms = excluded.expires_ms
    where hand_lease.expires_ms <= ${nowMs} returning owner`.execute(db);
  return taken.rows.length > 0;
}

/** A lease that has not expired is ended by its owner alone: in the table by hand, and in the library's. */
export const endedByItsOwnerAlone = [
  endedBy('hand_lease', ({ name }, row) => name === row['owner']),
  endedBy('transition_lease', ({ bootId }, row) => bootId === row['owner_boot_id']),
];

function endedBy(table: string, owns: (actor: ProcessView, row: Row) => boolean): Invariant<Tables> {
  return invariant<Tables>(`a live row of ${table} is ended by its owner alone`, (world) => {
    for (const before of world.previous[table] ?? []) {
      const after = world.rows(table).find((row) => row['task_id'] === before['task_id']);
      const kept = after !== undefined && ['owner', 'claim'].every((column) => after[column] === before[column]);
      const live = Number(before['expires_ms']) > world.nowMs;
      if (live && !kept && !world.actors.some((actor) => owns(actor, before)))
        return `${String(before['owner'])} lost it`;
    }
    return true;
  });
}
