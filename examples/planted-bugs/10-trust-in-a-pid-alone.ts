import { acquireLease, releaseLease } from 'transition-ownership';
import { invariant, type Process } from 'transition-ownership/testing';
import { TTL_MS, takeByHand } from './hand-lease.js';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Takes a lease for its own because the row has its pid. After a restart the operating system gave it the pid of the run
 * that died: it goes on in the middle of somebody else's work.
 *
 * The corrected one knows its own rows by a nonce of this very start, and takes the dead run's lease over by evidence.
 */
const knowByPid = async (process: Process<Tables>): Promise<void> => {
  const { db, pid, ghost, bootId } = process;
  const row = await db.selectFrom('hand_lease').select('pid').where('task_id', '=', 1).executeTakeFirst();
  const taken = row === undefined ? await takeByHand(process) : false;
  if (taken) ghost({ took: bootId });
  if (taken || row?.pid === pid) ghost({ worksAs: bootId });
  await process.work();
};

const knowByClaim = async ({ createOwnership, name, ghost, bootId, work }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  const lease = await acquireLease(ownership, { taskId: 1, actor: name, ttlMs: TTL_MS });
  if (lease.isErr()) return;
  ghost({ took: bootId });
  ghost({ worksAs: bootId });
  await work();
  void (await releaseLease(ownership, lease.value));
};

const worksOnItsOwnLease = invariant<Tables>('whoever works has taken the lease', ({ facts }) => {
  const takers = facts.flatMap(({ took }) => (took === undefined ? [] : [took]));
  const stranger = facts.find(({ worksAs }) => worksAs !== undefined && !takers.includes(worksAs));
  return stranger === undefined || `${String(stranger['worksAs'])} works on a lease that it never took`;
});

const restarted = { crashes: 1, restarts: { count: 1, pid: 'same' } } as const;

export const trustInAPidAlone: PlantedBug = {
  name: 'trust in a pid alone',
  broken: { ...seeded, processes: { A: knowByPid }, faults: restarted, invariant: worksOnItsOwnLease },
  corrected: { ...seeded, processes: { A: knowByClaim }, faults: restarted, invariant: worksOnItsOwnLease },
};
