import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DialectName, ensureSchema, recoverOnStartup } from 'transition-ownership';
import { bundleInto } from '../process/bundled.js';
import { type Evidence, readEvidence } from './evidence.js';
import { Fleet } from './fleet.js';
import { connect, type Ownership, ownershipOf } from './orchestrator.js';
import { Outside } from './outside.js';
import { FAULTS, type FaultKind } from './plan.js';
import { rules } from './rules.js';
import { privateMariadb } from './server/mariadb.js';
import { privatePostgres } from './server/postgres.js';
import type { Server } from './server/server.js';
import { sqliteFile } from './server/sqlite.js';
import type { Breakage } from './setup.js';
import { keepHistory, makeTables } from './tables.js';
import { type Count, torment } from './tormentor.js';

/** How to torture. */
export interface TortureOptions {
  readonly dialect: DialectName;
  readonly forMs: number;
  readonly seed: number;
  /** How many processes do jobs; one more cleans up. */
  readonly workers: number;
  /** A guard that the workers leave out: the run must find it. */
  readonly breaks?: Breakage | undefined;
}

/** What a run did, and what it found. */
export interface TortureReport {
  readonly server: string;
  /** How often each fault took place; of these, how many met the holder of a lease. */
  readonly faults: ReadonlyMap<FaultKind, Count>;
  readonly told: ReadonlyMap<string, number>;
  readonly evidence: Evidence;
  readonly findings: readonly { readonly title: string; readonly breaches: readonly string[] }[];
}

const SERVERS: Readonly<Record<DialectName, () => Promise<Server>>> = {
  sqlite: sqliteFile,
  postgres: privatePostgres,
  mysql: privateMariadb,
};

const TASKS = 5;
const DRAIN_MS = 30_000;

/** Lets workers do transitions while faults befall them, then lets them end, and judges what they left behind. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const server = await SERVERS[options.dialect]();
  const folder = mkdtempSync(join(tmpdir(), 'torture-'));
  try {
    return await tortureOn(server, folder, options);
  } finally {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tortureOn(server: Server, folder: string, options: TortureOptions): Promise<TortureReport> {
  const { address } = server;
  bundleInto(folder, [fileURLToPath(new URL('worker.ts', import.meta.url))]);
  const log = join(folder, 'effects.log');
  const db = connect(address);
  const ownership = ownershipOf(db, address);
  await makeTables(db, options.dialect);
  (await ensureSchema(ownership))._unsafeUnwrap();
  await keepHistory(db, options.dialect);
  for (let id = 1; id <= TASKS; id += 1) {
    await db.insertInto('tasks').values({ id, stage: 'deploy', round: 0, fencing_token: null }).execute();
    for (const task_id of [id, id]) await db.insertInto('jobs').values({ task_id, status: 'queued' }).execute();
  }

  const fleet = new Fleet(join(folder, 'worker.mjs'), options.workers + 1, (slot, life) => ({
    address,
    log,
    seed: options.seed + 1_000 * slot + 1_000_003 * life,
    role: slot === 0 ? 'reaper' : 'worker',
    breaks: options.breaks,
  }));
  try {
    await fleet.atWork();
    const faults = await torment({ server, db, ownership, fleet }, options);
    await fleet.drain(DRAIN_MS);
    const outside = new Outside(log);
    const evidence = await readEvidence(db, outside, await unsettled(ownership, outside));
    const findings = rules.map(({ title, breaches }) => ({ title, breaches: [...breaches(evidence)] }));
    findings.push(
      { title: 'workers end only when they are told to', breaches: fleet.accidents },
      {
        title: 'every fault of the plan took place, and work was done all the same',
        breaches: missing(faults, evidence),
      },
    );
    return { server: server.name, faults, told: fleet.told, evidence, findings };
  } finally {
    fleet.killAll();
    void (await ownership.close());
    await db.destroy();
  }
}

/** What would make the rules true of nothing. */
function missing(faults: TortureReport['faults'], { history }: Evidence): string[] {
  const none = [...faults].filter(([, { times }]) => times === 0).map(([kind]) => `${FAULTS[kind]}: none`);
  const stages = history.filter(({ kind }) => kind === 'stage').length;
  return stages >= TASKS ? none : [...none, `only ${stages} stages were written`];
}

/** The tasks with an effect that nobody can tell about, when all is over. */
async function unsettled(ownership: Ownership, outside: Outside): Promise<number[]> {
  const recovered = await recoverOnStartup(ownership, { jobs: 'dead-only', probes: outside.probes });
  return recovered
    ._unsafeUnwrap()
    .transitions.filter(({ decision }) => decision === 'hold')
    .map(({ taskId }) => taskId);
}
