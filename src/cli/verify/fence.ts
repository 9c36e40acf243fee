import { type RawBuilder, sql } from 'kysely';
import {
  acquireLease,
  createTransitionOwnership,
  type Dialect,
  heartbeatOnly,
  type Lease,
  ownedBy,
  updateStageCas,
} from 'transition-ownership';
import { type Proof, said } from './proof.js';
import { type Handle, openSite, type Scratch } from './scratch.js';

/** How long a wait for a lock may take to show. */
const SHOWS_WITHIN_MS = 5_000;

const own = (db: Handle, dialect?: Dialect) =>
  createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    liveness: heartbeatOnly(),
    ...(dialect && { dialect }),
    lease: { ttlMs: 30_000, renewEveryMs: 10_000 },
  });

type Ownership = ReturnType<typeof own>;
type Write = (holder: { readonly ownership: Ownership; readonly db: Handle }, lease: Lease<number>) => Promise<boolean>;

interface Race {
  readonly write: Write;
  readonly waits: (db: Handle) => Promise<number>;
  readonly dialect: Dialect | undefined;
}

/** The ways to write under a fence, each true if it wrote. */
const WRITES: Readonly<Record<string, Write>> = {
  updateStageCas: async ({ ownership }, lease) =>
    (await updateStageCas(ownership, { taskId: 1, expected: 'a', next: 'b', lease })).isOk(),
  'updateStageCas with release': async ({ ownership }, lease) =>
    (await updateStageCas(ownership, { taskId: 1, expected: 'a', next: 'b', lease, release: true })).isOk(),
  ownedBy: async ({ ownership, db }, lease) => {
    const fenced: RawBuilder<unknown> = sql`update tasks set stage = 'b' where id = 1 and ${sql`${ownedBy(ownership, lease)}`}`;
    // A write that cannot be put in an order with a take-over is refused, and writes nothing.
    const written = await fenced.execute(db).catch(() => undefined);
    return (written?.numAffectedRows ?? 0n) > 0n;
  },
};

/**
 * No one takes over between the guard of a write and the write: at the isolation of the server, one way after another.
 * The holder writes by `dialect`, by default the library's own.
 */
export async function proveFence(scratch: Scratch, dialect?: Dialect): Promise<Proof[]> {
  const { waits } = scratch;
  if (waits === undefined) return [];
  const proofs: Proof[] = [];
  const handles = await Promise.all([openSite(scratch.site, 2), openSite(scratch.site, 2), openSite(scratch.site, 2)]);
  try {
    for (const [name, write] of Object.entries(WRITES)) {
      const title = `fence: ${name}`;
      try {
        proofs.push({ name: title, ...(await race(handles, { write, waits, dialect })) });
      } catch (error) {
        proofs.push({ name: title, result: 'not-tried', detail: said(error) });
      }
    }
  } finally {
    await Promise.all(handles.map((handle) => handle.destroy()));
  }
  return proofs;
}

/**
 * The holder's write has read its guard and waits for the row of its task, which a third session has locked; meanwhile
 * another process takes the lease over. Either may come first, never the take-over and then the write.
 */
async function race(
  [holding, another, third]: readonly [Handle, Handle, Handle],
  { write, waits, dialect }: Race,
): Promise<Pick<Proof, 'result' | 'detail'>> {
  const holder = { ownership: own(holding, dialect), db: holding };
  const other = own(another);
  await sql`delete from transition_lease`.execute(third);
  await sql`delete from tasks`.execute(third);
  await sql`insert into tasks (id, stage) values (1, 'a')`.execute(third);
  const lease = await acquireLease(holder.ownership, { taskId: 1, actor: 'holder' });
  if (lease.isErr()) return { result: 'broken', detail: `a free task could not be taken: ${lease.error.type}` };
  await sql`update transition_lease set expires_ms = expires_ms - 10000000`.execute(third);
  const blocker = await third.startTransaction().execute();
  let tookOver: boolean | undefined;
  let tookOverFirst = false;
  let writing: Promise<boolean> | undefined;
  let taking: Promise<unknown> | undefined;
  const take = async (): Promise<boolean> => (await acquireLease(other, { taskId: 1, actor: 'other' })).isOk();
  try {
    await sql`select id from tasks where id = 1 for update`.execute(blocker);
    writing = write(holder, lease.value);
    if (!(await shows(async () => (await waits(third)) >= 1))) return unseen('who waits for a lock');
    taking = take().then((taken) => (tookOver = taken));
    if (!(await shows(async () => tookOver !== undefined || (await waits(third)) >= 2))) {
      return unseen('what a take-over waits for');
    }
    tookOverFirst = tookOver === true;
  } finally {
    await blocker.commit().execute();
    await Promise.all([writing, taking]);
  }
  if (tookOverFirst && (await writing)) {
    return { result: 'broken', detail: 'a write went through after another process had taken the task over' };
  }
  if (!tookOver && !(await take())) return { result: 'broken', detail: 'no one could take the task over afterwards' };
  return {
    result: 'held',
    detail: tookOverFirst ? 'the late write was refused' : 'the take-over came after the write',
  };
}

const unseen = (what: string): Pick<Proof, 'result' | 'detail'> => ({
  result: 'not-tried',
  detail: `the server does not show ${what}`,
});

async function shows(is: () => Promise<boolean>): Promise<boolean> {
  for (const sinceMs = performance.now(); performance.now() - sinceMs < SHOWS_WITHIN_MS; ) if (await is()) return true;
  return false;
}
