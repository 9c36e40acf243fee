import { acquireLease, releaseLease } from 'transition-ownership';
import { invariant, type Process } from 'transition-ownership/testing';
import { options, type PlantedBug, seeded, type Tables } from './planted-bug.js';

/**
 * Looks whether somebody has the task, and if not takes it. Two processes look at the same moment, and both take it.
 *
 * The corrected one takes it in the statement that looks.
 */
const lookThenTake = async ({ db, pid, ghost, work }: Process<Tables>): Promise<void> => {
  const holder = await db.selectFrom('jobs').select('pid').where('id', '=', 1).executeTakeFirstOrThrow();
  if (holder.pid !== null) return;
  await db.updateTable('jobs').set({ status: 'running', pid }).where('id', '=', 1).execute();
  ghost({ begins: pid });
  await work();
  ghost({ ends: pid });
};

const take = async ({ createOwnership, name, pid, ghost, work }: Process<Tables>): Promise<void> => {
  const ownership = createOwnership(options);
  const lease = await acquireLease(ownership, { taskId: 1, actor: name });
  if (lease.isErr()) return;
  ghost({ begins: pid });
  await work();
  ghost({ ends: pid });
  void (await releaseLease(ownership, lease.value));
};

const oneAtATime = invariant<Tables>('one works at a time', ({ facts }) => {
  const begun = facts.filter(({ begins }) => begins !== undefined).length;
  const ended = facts.filter(({ ends }) => ends !== undefined).length;
  return begun - ended <= 1;
});

export const checkThenAct: PlantedBug = {
  name: 'check, then act',
  broken: { ...seeded, processes: { A: lookThenTake, B: lookThenTake }, invariant: oneAtATime },
  corrected: { ...seeded, processes: { A: take, B: take }, invariant: oneAtATime },
};
