import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { acquireLease, releaseLease, snapshot } from 'transition-ownership';
import { createHttpHandler, toNodeListener, toPrometheus } from 'transition-ownership/http';
import { expect, test } from 'vitest';
import { listen, openSite } from './site.js';

test('GET /queue is the snapshot with what was broken off, and with what the application adds', async () => {
  await using site = await openSite({ queue: async () => ({ tasks: [{ id: 1, big: 7n }], mode: 'mine' }) });
  const lease = (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
  const { body } = await site.ask('/queue');
  const { at: _, leases: __, ...seen } = (await snapshot(site.ownership))._unsafeUnwrap();
  expect(body).toMatchObject({ ...seen, transitions: [], underWay: [], tasks: [{ id: 1, big: '7' }] });
  expect(body['leases']).toMatchObject([{ taskId: 1, fencingToken: lease.fencingToken, verdict: 'live' }]);
});

test('GET /metrics has the names that Prometheus gives to the instruments of OpenTelemetry, from zero', async () => {
  await using site = await openSite();
  void (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
  const { text, headers } = await site.ask('/metrics');
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(text).toContain('# TYPE transition_ownership_lease_held gauge\n');
  expect(text).toContain('\ntransition_ownership_lease_held{transition_ownership_verdict="live"} 1\n');
  expect(text).toContain('\ntransition_ownership_lease_held{transition_ownership_verdict="dead"} 0\n');
  expect(text).toContain('\n# TYPE transition_ownership_lease_forced_reclaims_total counter\n');
  expect(text).toContain('\ntransition_ownership_lease_forced_reclaims_total 0\n');
  expect(text).toContain('\ntransition_ownership_lease_acquisitions_total 1\n');
  expect(text).toContain('\ntransition_ownership_effect_unfinished 0\n');
  // Without the option jobs there is none.
  expect(text).not.toMatch(/queue_impossible |job_(queued|running|oldest)/);
  const aging = (metrics: string) => metrics.replace(/(_age_seconds) \d.*/g, '$1');
  expect(aging(text)).toBe(aging(toPrometheus((await snapshot(site.ownership))._unsafeUnwrap())));
  expect(text).toMatch(/^transition_ownership_lease_oldest_age_seconds \d/m);
});

test('GET /tasks/:id/explain tells of one task who holds it, and of its effects', async () => {
  await using site = await openSite();
  expect((await site.ask('/tasks/2/explain')).body).toEqual({ taskId: 2, lease: { state: 'free' }, effects: [] });
  const lease = (await acquireLease(site.ownership, { taskId: 2, actor: 'monitor' }))._unsafeUnwrap();
  const held = await site.ask('/tasks/2/explain');
  expect(held.body).toMatchObject({ lease: { state: 'held', actor: 'monitor', verdict: 'live' } });
  expect(held.text).not.toContain(lease.claim);
  for (const id of ['x', '%zz', '2.5', '2%2F3'])
    expect(await site.ask(`/tasks/${id}/explain`)).toMatchObject({ status: 400, body: { type: 'invalid-id' } });
});

test('a base path is the top of all, also of what the page loads', async () => {
  await using site = await openSite({ basePath: '/ops/ownership' });
  for (const path of ['/ops/ownership', '/ops/ownership/']) {
    const { text } = await site.ask(path);
    expect([...text.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, link]) => link)).toEqual([
      '/ops/ownership/page.css',
      '/ops/ownership/page.js',
    ]);
  }
  expect((await site.ask('/ops/ownership/queue')).status).toBe(200);
  for (const path of ['/', '/queue', '/ops/ownershipqueue', '/ops/ownership/../queue'])
    expect((await site.ask(path)).status).toBe(404);
});

/** Reads server-sent events until there are enough. */
async function read(response: Response, enough: (text: string) => boolean): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!enough(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  await reader.cancel();
  return text;
}

test('GET /events tells what happened before and what happens, and shows the queue', async () => {
  await using site = await openSite();
  void (await acquireLease(site.ownership, { taskId: 1, actor: 'before' }));
  const response = await site.handler(new Request('http://localhost/events'));
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const watching = read(response, (text) => /"actor":"after".*event: state\ndata: .*"actor":"after"/s.test(text));
  void (await acquireLease(site.ownership, { taskId: 2, actor: 'after' }));
  const text = await watching;
  expect(text).toMatch(/event: told\ndata: \{"at":"[^"]+","event":\{"type":"lease.acquired".*"before"/);
  expect(text.indexOf('before')).toBeLessThan(text.indexOf('after'));
});

test('GET /events shows whoever comes late the last hundred events, and no more', async () => {
  await using site = await openSite();
  for (let each = 0; each < 60; each += 1) {
    const lease = (await acquireLease(site.ownership, { taskId: 1, actor: `actor ${each}` }))._unsafeUnwrap();
    void (await releaseLease(site.ownership, lease));
  }
  const text = await read(await site.handler(new Request('http://localhost/events')), (seen) =>
    seen.includes('"actor 59"'),
  );
  const seen = [...text.matchAll(/event: told/g)].length;
  expect(seen).toBeGreaterThan(90);
  expect(seen).toBeLessThanOrEqual(100);
  expect(text).not.toContain('"actor 5"');
});

test('viewers are let in up to a bound, and their places are given on', async () => {
  await using site = await openSite();
  const join = () => site.handler(new Request('http://localhost/events'));
  const viewers = await Promise.all(Array.from({ length: 100 }, join));
  expect(viewers.map(({ status }) => status)).toEqual(viewers.map(() => 200));
  expect((await join()).status).toBe(503);
  await viewers[0]?.body?.cancel();
  expect((await join()).status).toBe(200);
});

test('a real server serves it, tells it who asks, and can close while somebody watches', async () => {
  await using site = await openSite();
  const server = await listen(site.handler);
  expect(await (await fetch(`${server.url}/queue`)).json()).toMatchObject({ mode: 'on' });
  const order = await fetch(`${server.url}/transition-lease/release`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(order.status).toBe(403);
  const watching = read(await fetch(`${server.url}/events`), () => false);
  await server.close();
  expect(await watching).toContain('retry: 2000');
});

test('an ownership that is closed lets its viewers go', async () => {
  await using site = await openSite();
  const handler = createHttpHandler(site.ownership);
  const watching = read(await handler(new Request('http://localhost/events')), () => false);
  void (await site.ownership.close({ deadlineMs: 0 }));
  expect(await watching).toContain('event: state');
});

test('a server that has taken its mount path out of the address gives it back', async () => {
  await using site = await openSite({ basePath: '/ops' });
  const listener = toNodeListener(site.handler);
  // As Express does it in `app.use('/ops', …)`.
  const server = createServer((request, response) => {
    const originalUrl = request.url ?? '';
    listener(Object.assign(request, { originalUrl, url: originalUrl.slice('/ops'.length) }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect((await fetch(`http://127.0.0.1:${port}/ops/queue`)).status).toBe(200);
  server.closeAllConnections();
  server.close();
});

test('an address that is none is 400, and a method that is none ends the connection', async () => {
  await using site = await openSite();
  const server = await listen(site.handler);
  const asked = (line: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.end(`${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
      let text = '';
      socket.on('data', (data) => (text += String(data)));
      socket.on('close', () => resolve(text));
    });
  expect(await asked('GET http://rebound.example/queue')).toMatch(/^HTTP\/1.1 400 /);
  expect(await asked('GET /queue')).toMatch(/^HTTP\/1.1 200 /);
  expect(await asked('TRACE /queue')).not.toMatch(/ 200 /);
  await server.close();
});
