import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { acquireLease, createTransitionOwnership } from 'transition-ownership';
import { type Proof, said } from './proof.js';
import type { Handle, Scratch, Site } from './scratch.js';
import { judgeTables, TASKS, TTL_MS } from './torture-tables.js';

const WORKERS = 4;
const TITLE = 'real processes, killed and stopped';
const FREE = 'every task is free again';

/** Real processes that are killed, and stopped for longer than their leases live, while they work. */
export async function proveByTorture(
  scratch: Scratch,
  { db, forMs }: { readonly db: Handle; readonly forMs: number },
): Promise<Proof[]> {
  await sql`delete from transition_lease`.execute(db);
  await sql`delete from tasks`.execute(db);
  for (let task = 1; task <= TASKS; task += 1)
    await sql`insert into tasks (id, stage) values (${task}, '0')`.execute(db);
  const fleet = new Fleet(scratch.site);
  try {
    await fleet.torment(forMs);
  } catch (error) {
    return [{ name: TITLE, result: 'not-tried', detail: said(error) }];
  } finally {
    await fleet.end();
  }
  return [await judge(db, fleet), await proveFree(db)];
}

async function judge(db: Handle, { kills, stops }: Fleet): Promise<Proof> {
  const { grants, moves, wrong } = await judgeTables(db);
  const seen = `${kills} kills, ${stops} stops, ${grants} leases, ${moves} moves`;
  const [first] = wrong;
  if (first !== undefined) return { name: TITLE, result: 'broken', detail: `${first} (${seen})` };
  if (moves < TASKS || kills === 0) return { name: TITLE, result: 'not-tried', detail: `too little happened: ${seen}` };
  return { name: TITLE, result: 'held', detail: seen };
}

/** All owners are dead: whoever comes must get each task once its lease is over, at the latest. */
async function proveFree(db: Handle): Promise<Proof> {
  const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
  const sinceMs = performance.now();
  for (let taskId = 1; taskId <= TASKS; taskId += 1) {
    for (;;) {
      const taken = await acquireLease(ownership, { taskId, actor: 'successor' });
      if (taken.isOk()) break;
      if (performance.now() - sinceMs > TTL_MS + 5_000) {
        return { name: FREE, result: 'broken', detail: `task ${taskId} cannot be taken: ${taken.error.type}` };
      }
      await pause(50);
    }
  }
  return { name: FREE, result: 'held', detail: `after ${Math.round(performance.now() - sinceMs)} ms` };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The processes at work. */
class Fleet {
  readonly #site: Site;
  readonly #workers = new Set<ChildProcess>();
  #errors = '';
  kills = 0;
  stops = 0;

  constructor(site: Site) {
    this.#site = site;
    // An interrupted tool leaves no process behind, not even one that stands still.
    process.once('exit', this.#atExit);
  }

  async torment(forMs: number): Promise<void> {
    for (let at = 0; at < WORKERS; at += 1) this.#start();
    // Until the first of them is at work nothing can be hit.
    await pause(500);
    for (const untilMs = performance.now() + forMs; performance.now() < untilMs; ) {
      await pause(100 + Math.random() * 250);
      const workers = [...this.#workers];
      if (workers.length < WORKERS) throw new Error(`a process ended by itself: ${said(this.#errors)}`);
      const worker = workers[Math.floor(Math.random() * workers.length)];
      if (worker === undefined) continue;
      if (Math.random() < 0.3) this.#stop(worker);
      else await this.#kill(worker);
      if (this.#workers.size < WORKERS) this.#start();
    }
  }

  readonly #atExit = (): void => {
    for (const worker of this.#workers) worker.kill('SIGKILL');
  };

  async end(): Promise<void> {
    process.off('exit', this.#atExit);
    await Promise.all([...this.#workers].map((worker) => this.#kill(worker)));
  }

  #start(): void {
    const path = ['verify-worker.js', 'verify/worker.mjs'].map((name) => fileURLToPath(new URL(name, import.meta.url)));
    const worker = fork(path.find((name) => existsSync(name)) ?? '', [], {
      env: { ...process.env, TRANSITION_OWNERSHIP_VERIFY: JSON.stringify(this.#site) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    worker.stderr?.on('data', (text) => (this.#errors = String(text)));
    worker.on('error', (error) => (this.#errors = error.message));
    worker.on('exit', () => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  /** For longer than its lease lives: it wakes up and goes on as if nothing had been. */
  #stop(worker: ChildProcess): void {
    this.stops += 1;
    worker.kill('SIGSTOP');
    setTimeout(() => worker.kill('SIGCONT'), TTL_MS * 1.3).unref();
  }

  async #kill(worker: ChildProcess): Promise<void> {
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.kill('SIGKILL');
    this.kills += 1;
    await ended;
  }
}
