import pg from 'pg';
import { ownershipOn, transitions } from '../ownership.js';
import { PostgresServer } from '../postgres/database.js';
import { Tour } from '../tour.js';
import { load, type Peer, printPeers } from './peer.js';

interface PgBossPackage {
  readonly default: new (options: object) => PgBoss;
}

interface PgBoss {
  on(event: 'error', listener: (error: unknown) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  insert(jobs: readonly object[]): Promise<unknown>;
  fetch(name: string): Promise<readonly { readonly id: string }[]>;
  complete(name: string, id: string): Promise<unknown>;
  stop(options: object): Promise<void>;
}

interface GraphileWorker {
  runMigrations(options: object): Promise<void>;
  runOnce(options: object): Promise<void>;
  readonly Logger: new (factory: () => () => void) => object;
}

interface Closing {
  readonly peer: Peer;
  readonly close: () => Promise<unknown>;
}

const BOSS = 'transition_ownership_bench_boss';
const WORKER = 'transition_ownership_bench_worker';

/** What PostgreSQL has, and queues over it: claim and complete. */
export async function onPostgres(url: string): Promise<void> {
  await using server = new PostgresServer(url);
  const durable = await server.durability();
  const library = transitions(
    'library: acquire, fenced write, release',
    await ownershipOn(await server.kysely('peer')),
  );
  const client = await server.client('peer');
  const queues = [await pgBoss(url), await graphileWorker(url)].filter((queue) => queue !== undefined);
  await printPeers(`Beside what people use today, on PostgreSQL: ${durable}`, [
    { ...library, durable: 'each commit', lacks: '' },
    advisory(client),
    ...queues.map(({ peer }) => peer),
  ]);
  for (const { close } of queues) await close();
  await client.query(`drop schema if exists ${BOSS} cascade`);
  await client.query(`drop schema if exists ${WORKER} cascade`);
}

function advisory(client: pg.Client): Peer {
  const tour = new Tour();
  return {
    name: 'advisory lock: lock, unlock',
    durable: 'nothing: gone with the connection',
    lacks: 'no fencing, no stage write, nobody to be seen, no lease beyond the connection',
    run: async (times) => {
      for (let time = 0; time < times; time += 1) {
        const { taskId } = tour.next();
        const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [taskId]);
        if (!rows[0]?.locked) throw new Error('the advisory lock is taken');
        await client.query('select pg_advisory_unlock($1)', [taskId]);
      }
    },
  };
}

async function pgBoss(url: string): Promise<Closing | undefined> {
  const loaded = await load<PgBossPackage>('pg-boss');
  if (!loaded) return undefined;
  const boss = new loaded.default({ connectionString: url, schema: BOSS, max: 1, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue('bench');
  return {
    close: () => boss.stop({ graceful: false }),
    peer: {
      name: 'pg-boss: fetch, complete',
      durable: 'each commit',
      lacks: 'no fencing, no stage write, no evidence of death: a job ends by time',
      prepare: (times) => boss.insert(Array.from({ length: times }, () => ({ name: 'bench' }))),
      run: async (times) => {
        for (let time = 0; time < times; time += 1) {
          const [job] = await boss.fetch('bench');
          if (!job) throw new Error('pg-boss has no job');
          await boss.complete('bench', job.id);
        }
      },
    },
  };
}

async function graphileWorker(url: string): Promise<Closing | undefined> {
  const worker = await load<GraphileWorker>('graphile-worker');
  if (!worker) return undefined;
  const pgPool = new pg.Pool({ connectionString: url, max: 2 });
  const options = { pgPool, schema: WORKER, logger: new worker.Logger(() => () => undefined) };
  await worker.runMigrations(options);
  return {
    close: () => pgPool.end(),
    peer: {
      name: 'graphile-worker: claim, complete',
      durable: 'each commit',
      lacks: 'no fencing, no stage write, no evidence of death: a job ends by time',
      prepare: (times) => pgPool.query(`select ${WORKER}.add_job('bench') from generate_series(1, $1)`, [times]),
      run: () => worker.runOnce({ ...options, concurrency: 1, taskList: { bench: () => undefined } }),
    },
  };
}
