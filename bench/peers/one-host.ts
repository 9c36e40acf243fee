import { mkdirSync } from 'node:fs';
import { ownershipOn, transitions } from '../ownership.js';
import { Workshop } from '../sqlite/database.js';
import { Tour } from '../tour.js';
import { load, type Peer, printPeers } from './peer.js';

interface ProperLockfile {
  readonly default: { lock(file: string, options: object): Promise<() => Promise<void>> };
}

interface VerrouCore {
  readonly Verrou: new (options: object) => { createLock(name: string, ttl: number): VerrouLock };
}

interface VerrouLock {
  acquireImmediately(): Promise<boolean>;
  release(): Promise<void>;
}

interface VerrouKysely {
  kyselyStore(options: object): unknown;
}

interface Ioredis {
  readonly Redis: new (url: string, options: object) => RedisClient;
}

interface RedisClient {
  connect(): Promise<void>;
  config(verb: 'GET', name: string): Promise<readonly string[]>;
  quit(): Promise<unknown>;
}

interface RedlockPackage {
  readonly default: new (
    clients: readonly RedisClient[],
  ) => {
    acquire(names: readonly string[], ttlMs: number): Promise<{ release(): Promise<unknown> }>;
  };
}

const LOCKS_ONLY = 'no fencing, no stage write, ends by time alone';

/** Locks that one host can have, each taken and given back. */
export async function oneHost(): Promise<void> {
  await using shop = new Workshop();
  const library = transitions(
    'library: acquire, fenced write, release',
    await ownershipOn(await shop.kept(shop.file(), 'normal')),
  );
  const redis = await redlock();
  const peers = [
    { ...library, durable: 'WAL, NORMAL: a crash, not a power cut', lacks: '' },
    await verrou(shop),
    await properLockfile(shop),
    redis?.peer,
  ];
  await printPeers(
    'Beside what people use today, on one host',
    peers.filter((peer) => peer !== undefined),
  );
  await redis?.close();
}

/** Takes and gives back a lock of each task in turn. */
function locking(name: string, once: (key: string) => Promise<unknown>): Pick<Peer, 'name' | 'run'> {
  const tour = new Tour();
  return {
    name,
    run: async (times) => {
      for (let time = 0; time < times; time += 1) await once(`task-${tour.next().taskId}`);
    },
  };
}

async function verrou(shop: Workshop): Promise<Peer | undefined> {
  const core = await load<VerrouCore>('@verrou/core');
  const stores = await load<VerrouKysely>('@verrou/core/drivers/kysely');
  if (!core || !stores) return undefined;
  const connection = await shop.kept(shop.file(), 'normal');
  const store = { driver: stores.kyselyStore({ connection }) };
  const locks = new core.Verrou({ default: 'kysely', stores: { kysely: store } });
  const peer = locking('verrou over Kysely: acquire, release', async (key) => {
    const lock = locks.createLock(key, 30_000);
    if (!(await lock.acquireImmediately())) throw new Error('verrou found the lock taken');
    await lock.release();
  });
  return { ...peer, durable: 'the same file settings', lacks: `${LOCKS_ONLY}, no renewal by itself` };
}

async function properLockfile(shop: Workshop): Promise<Peer | undefined> {
  const lockfile = await load<ProperLockfile>('proper-lockfile');
  if (!lockfile) return undefined;
  const folder = `${shop.file()}-locks`;
  mkdirSync(folder);
  const peer = locking('proper-lockfile: lock, unlock', async (key) => {
    const release = await lockfile.default.lock(`${folder}/${key}`, { realpath: false });
    await release();
  });
  return { ...peer, durable: 'a folder, never synced', lacks: `${LOCKS_ONLY}, one host only` };
}

async function redlock(): Promise<{ readonly peer: Peer; readonly close: () => Promise<unknown> } | undefined> {
  const ioredis = await load<Ioredis>('ioredis');
  const redlocks = await load<RedlockPackage>('redlock');
  if (!ioredis || !redlocks) return undefined;
  const url = process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
  const client = new ioredis.Redis(url, { lazyConnect: true, retryStrategy: () => null });
  try {
    await client.connect();
  } catch {
    console.log(`  (no Redis at ${url})`);
    return undefined;
  }
  const [, appendOnly] = await client.config('GET', 'appendonly');
  const [, save] = await client.config('GET', 'save');
  const locks = new redlocks.default([client]);
  const peer = locking('redlock over one Redis: acquire, release', async (key) => {
    const lock = await locks.acquire([`transition-ownership-bench:${key}`], 30_000);
    await lock.release();
  });
  const durable = appendOnly === 'yes' ? 'append-only file' : save ? 'snapshots now and then' : 'nothing: memory alone';
  return { peer: { ...peer, durable, lacks: LOCKS_ONLY }, close: () => client.quit() };
}
