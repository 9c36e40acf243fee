import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as library from 'transition-ownership';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTables } from '../../examples/orchestrator/database.js';
import { openOrchestrator } from '../../examples/orchestrator/orchestrator.js';
import { readLog } from '../../examples/orchestrator/outside.js';
import { serve } from '../../examples/orchestrator/web/server.js';

vi.hoisted(() => {
  process.env['EFFECT_MS'] = '0';
});

describe('the addresses of the orchestrator', () => {
  let directory: string;
  let orchestrator: ReturnType<typeof openOrchestrator>;
  let server: Awaited<ReturnType<typeof serve>>;
  let url: string;

  const open = async (): Promise<void> => {
    directory = mkdtempSync(join(tmpdir(), 'orchestrator-web-'));
    orchestrator = openOrchestrator(directory, () => {});
    await createTables(orchestrator.db);
    (await library.ensureSchema(orchestrator.ownership))._unsafeUnwrap();
    server = await serve(orchestrator, { port: 0 });
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  };
  const post = async (path: string, body: unknown, type = 'application/json') => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': type },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const ship = () => post('/tasks', { repo: 'web', sha: '0b5a3f1' });
  const steps = () => readLog(join(directory, 'effects.log'));

  beforeEach(open);
  afterEach(async () => {
    server.leave();
    server.close();
    void (await orchestrator.ownership.close({ deadlineMs: 0 }));
    await orchestrator.db.destroy();
    rmSync(directory, { recursive: true });
    vi.unstubAllEnvs();
  });

  test('answer nobody who comes by another name, or from another page, and read no endless body', async () => {
    await ship();
    const { port } = server.address() as AddressInfo;
    const ask = (method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> =>
      new Promise((resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        asked.on('error', reject);
        asked.end(body);
      });
    const host = `127.0.0.1:${port}`;
    const type = { 'content-type': 'application/json' };
    const order = JSON.stringify({ taskId: 1 });
    for (const foreign of ['rebound.example', `rebound.example:${port}`]) {
      expect(await ask('GET', '/queue', { host: foreign })).toBe(403);
    }
    for (const foreign of ['rebound.example', `rebound.example:${port}`, '127.0.0.1', `127.0.0.1:${port + 1}`]) {
      expect(await ask('POST', '/webhook/ci', { ...type, host: foreign }, order)).toBe(403);
    }
    for (const origin of ['http://rebound.example', `http://rebound.example:${port}`, 'null', `https://${host}`]) {
      expect(await ask('POST', '/webhook/ci', { ...type, host, origin }, order)).toBe(403);
    }
    expect(steps()).toEqual([]);
    expect(
      await ask('POST', '/webhook/ci', { ...type, host }, JSON.stringify({ taskId: 1, pad: 'x'.repeat(70_000) })),
    ).toBe(413);
    expect(steps()).toEqual([]);
    expect(await ask('POST', '/webhook/ci', { ...type, host, origin: `http://${host}` }, order)).toBe(200);
    expect(await ask('POST', '/webhook/ci', { ...type, host: `localhost:${port}` }, order)).toBe(200);
  });

  test('move a task through its gates, each under the token of the move', async () => {
    await ship();
    expect(await post('/webhook/ci', { taskId: 1 })).toMatchObject({
      status: 200,
      body: { type: 'moved', to: 'deploy' },
    });
    expect(await post('/webhook/ci', { taskId: 1 })).toMatchObject({
      status: 200,
      body: { type: 'moved', to: 'done' },
    });
    expect(await post('/webhook/ci', { taskId: 1 })).toMatchObject({ status: 200, body: { type: 'nothing-to-do' } });
    expect(steps().map(({ effect, fencingToken }) => [effect, fencingToken])).toEqual([
      ['merge_pr', 1],
      ['ratchet_coverage', 1],
      ['rebuild_image', 2],
      ['deploy_production', 2],
    ]);
  });

  test('write a stage directly, and only by compare-and-swap', async () => {
    await ship();
    const write = { taskId: 1, expected: 'deploy-staging', next: 'deploy' };
    expect(await post('/webhook/stage', write)).toMatchObject({ status: 200, body: { to: 'deploy' } });
    expect(await post('/webhook/stage', write)).toMatchObject({ status: 409, body: { type: 'lost-race' } });
    expect(await post('/webhook/stage', { ...write, expected: 'done' })).toMatchObject({
      body: { type: 'illegal-transition' },
    });
    expect(await post('/webhook/stage', { ...write, taskId: 9 })).toMatchObject({ status: 404 });
  });

  test('take a lease from its owner by the token that was seen', async () => {
    await ship();
    const { ownership } = orchestrator;
    const lease = (
      await library.acquireLease(ownership, { taskId: 1, actor: 'monitor', context: 'web' })
    )._unsafeUnwrap();
    const order = { taskId: 1, fencingToken: 2, by: 'ada', reason: 'wrong branch' };
    expect(await post('/transition-lease/release', order)).toMatchObject({
      status: 409,
      body: { type: 'token-mismatch' },
    });
    expect(await post('/transition-lease/release', { ...order, fencingToken: 1 })).toMatchObject({ status: 200 });
    expect(await post('/transition-lease/release', order)).toMatchObject({
      status: 409,
      body: { type: 'already-free' },
    });
    expect((await library.releaseLease(ownership, lease))._unsafeUnwrap()).toBe('superseded');
  });

  test('refuse what is no request, and do nothing', async () => {
    expect(await post('/webhook/ci', { taskId: 1 }, 'text/plain')).toMatchObject({ status: 415 });
    expect(await post('/nowhere', {})).toMatchObject({ status: 404 });
    const nonsense = { taskId: 'one', fencingToken: 1, by: 'ada', reason: 'none' };
    expect(await post('/transition-lease/release', nonsense)).toMatchObject({
      status: 400,
      body: { type: 'invalid-id' },
    });
  });

  test('show the queue to people and to Prometheus', async () => {
    await ship();
    const lease = (
      await library.acquireLease(orchestrator.ownership, { taskId: 1, actor: 'monitor', context: 'web' })
    )._unsafeUnwrap();
    const queue = (await (await fetch(`${url}/queue`)).json()) as { leases: unknown[]; tasks: unknown[] };
    expect(queue.leases).toMatchObject([{ taskId: 1, actor: 'monitor', fencingToken: 1, verdict: 'live' }]);
    expect(queue.tasks).toMatchObject([{ repo: 'web', stage: 'deploy-staging' }]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('\ntransition_ownership_lease_held{transition_ownership_verdict="live"} 1\n');
    expect(metrics).toContain('\ntransition_ownership_stage_conflicts_total 0\n');
    expect((await library.releaseLease(orchestrator.ownership, lease))._unsafeUnwrap()).toBe('released');
  });

  test('guard only the repositories that the environment names', async () => {
    vi.stubEnv('OWNERSHIP_REPOS', 'api,billing');
    const { ownership, db } = openOrchestrator(directory, () => {});
    await createTables(db);
    await db
      .insertInto('tasks')
      .values({ id: 2, repo: 'billing', sha: 'c0ffee', stage: 'deploy', updated_at: null })
      .onConflict((clash) => clash.doNothing())
      .execute();
    const ask = async (taskId: number, context: string) =>
      (await library.acquireLease(ownership, { taskId, actor: 'monitor', context }))._unsafeUnwrap().guarded;
    expect(await ask(1, 'web')).toBe(false);
    expect(await ask(2, 'billing')).toBe(true);
    void (await ownership.close({ deadlineMs: 0 }));
    await db.destroy();
  });
});

describe('the README of the orchestrator', () => {
  const folder = 'examples/orchestrator';
  const text = readFileSync(`${folder}/README.md`, 'utf8');
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => String(link));

  test('links to what is there, and leaves no part out', () => {
    expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
    const parts = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'demo.ts');
    expect(parts.filter((name) => !links.includes(name))).toEqual([]);
  });

  test('names verbs that the library has', () => {
    const named = [...text.matchAll(/`(\w+(?:Lease|Cas|Job|Ownership|Defer|Startup|Reaper|Schema|Stages))`/g)];
    expect(named.length).toBeGreaterThan(8);
    expect(named.map(([, name]) => String(name)).filter((name) => !(name in library))).toEqual([]);
  });
});
