import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { Child } from '../process/children.js';
import { testIf } from '../process/permitted.js';
import type { HostCommands, HostSetup } from '../process/programs/host.js';
import { postgresPrograms, privatePostgres } from '../torture/server/postgres.js';
import type { Server } from '../torture/server/server.js';

type Host = Child<HostCommands>;

const TTL_MS = 3_000;
const [a, b] = [`host-a-${process.pid}`, `host-b-${process.pid}`];
const [addressOfA, addressOfB] = ['10.213.7.1', '10.213.7.2'];

const ip = (...line: readonly string[]): void => void execFileSync('ip', line, { stdio: 'pipe' });

/** Two network namespaces with a cable between them; false where that is not permitted. */
function connected(): boolean {
  try {
    for (const name of [a, b]) ip('netns', 'add', name);
    ip('link', 'add', 'cable', 'netns', a, 'type', 'veth', 'peer', 'name', 'cable', 'netns', b);
    for (const [name, address] of [
      [a, addressOfA],
      [b, addressOfB],
    ] as const) {
      ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'cable');
      for (const device of ['lo', 'cable']) ip('-n', name, 'link', 'set', device, 'up');
    }
    execFileSync('ip', [...inNetwork(a).slice(1), ...container, 'true'], { stdio: 'pipe' });
    return true;
  } catch {
    disconnect();
    return false;
  }
}

function disconnect(): void {
  for (const name of [a, b]) {
    try {
      ip('netns', 'delete', name);
    } catch {
      // It was never made.
    }
  }
}

function inNetwork(name: string): readonly string[] {
  return ['ip', 'netns', 'exec', name];
}

/** A host as far as pids go. */
const container = ['unshare', '--pid', '--fork', '--mount-proc'];

function hasPostgres(): boolean {
  try {
    return postgresPrograms().length > 0;
  } catch (error) {
    if (process.env['TEST_DATABASES_REQUIRED'] === '1') throw error;
    return false;
  }
}

const possible = hasPostgres() && connected();
const testOnHosts = testIf(possible, 'network namespaces are not permitted here, or PostgreSQL is not installed');
let server: Server | undefined;

beforeAll(async () => {
  if (!possible) return;
  server = await privatePostgres({ under: inNetwork(a), listen: addressOfA });
  await query('create table tasks (id integer primary key, stage text)');
  await query('insert into tasks select * from generate_series(1, 9)');
}, 60_000);

afterAll(async () => {
  await server?.remove();
  disconnect();
}, 60_000);

/** A process of a new host, in one of the networks; the server is in the first. */
async function newHost(network: string, alleged?: string): Promise<Host> {
  return started([...inNetwork(network), ...container], alleged);
}

async function started(under: readonly string[], alleged?: string): Promise<Host> {
  const connection = { host: addressOfA, user: 'torture', database: 'postgres' };
  const setup: HostSetup = { connection, ttlMs: TTL_MS, ...(alleged !== undefined && { host: alleged }) };
  const child: Host = new Child<HostCommands>('host', setup, { under });
  await child.call('schema');
  return child;
}

/** One more process of a host, beside the one that it has. */
async function besides(host: Host, alleged?: string): Promise<Host> {
  const inner = readFileSync(`/proc/${host.pid}/task/${host.pid}/children`, 'latin1').trim();
  return started(['nsenter', '--target', inner, '--pid', '--mount', '--net'], alleged);
}

async function query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  if (server?.address.dialect !== 'postgres') throw new Error('there is no server');
  const client = new pg.Client({ host: server.address.folder, user: 'torture', database: 'postgres' });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
  await client.end();
  return rows;
}

async function expiry(taskId: number): Promise<void> {
  const left = '(expires_ms - extract(epoch from clock_timestamp()) * 1000)::float8 as left';
  const [row] = await query(`select ${left} from transition_lease where task_id = $1`, [taskId]);
  await setTimeout(Math.max(0, Number(row?.['left'] ?? 0)) + 5);
}

describe('several hosts over one PostgreSQL', () => {
  testOnHosts('the same pid on two hosts is two processes in two scopes', async () => {
    const [first, second] = await Promise.all([newHost(a), newHost(b)]);
    const [one, other] = await Promise.all([first.call('identity'), second.call('identity')]);
    expect(one.pid).toBe(other.pid);
    expect(one.host).not.toBe(other.host);
    expect(await second.call('tryOut', { taskId: 1 })).toEqual({ ok: 'released' });
  });

  testOnHosts('a killed owner is live to another host until its lease expires, and then expired', async () => {
    const [owner, heir] = await Promise.all([newHost(a), newHost(b)]);
    expect(await owner.call('acquire', { taskId: 2 })).toHaveProperty('ok');
    const refused = { err: { type: 'lease-busy', verdict: 'live', reason: 'unexpired' } };
    expect(await heir.call('acquire', { taskId: 2 })).toMatchObject(refused);
    await owner.kill();
    expect(await heir.call('acquire', { taskId: 2 })).toMatchObject(refused);
    await expiry(2);
    expect(await heir.call('acquire', { taskId: 2 })).toHaveProperty('ok');
    expect(await heir.event('lease.reclaimed')).toMatchObject({ verdict: 'dead', reason: 'expired' });
  });

  testOnHosts('a killed owner is gone at once to a process of its own host', async () => {
    const first = await newHost(a);
    const [owner, stranger] = await Promise.all([besides(first), newHost(b)]);
    expect(await owner.call('acquire', { taskId: 3 })).toHaveProperty('ok');
    expect(await first.call('acquire', { taskId: 3 })).toMatchObject({ err: { reason: 'process-alive' } });
    await owner.kill();
    expect(await stranger.call('acquire', { taskId: 3 })).toMatchObject({ err: { reason: 'unexpired' } });
    expect(await first.call('acquire', { taskId: 3 })).toHaveProperty('ok');
    expect(await first.event('lease.reclaimed')).toMatchObject({ verdict: 'dead', reason: 'process-gone' });
  });

  testOnHosts('hosts that took one name for their whole scope would call a living owner dead', async () => {
    const [first, heir] = await Promise.all([newHost(a, 'one'), newHost(b, 'one')]);
    const owner = await besides(first, 'one');
    expect(await owner.call('acquire', { taskId: 4 })).toHaveProperty('ok');
    expect(await heir.call('acquire', { taskId: 4 })).toHaveProperty('ok');
    expect(await heir.event('lease.reclaimed')).toMatchObject({ verdict: 'dead', reason: 'process-gone' });
  });
});
