import { acquireLease } from 'transition-ownership';
import { createHttpHandler, type HttpOptions } from 'transition-ownership/http';
import { describe, expect, test } from 'vitest';
import { answerOf, openSite } from './site.js';

const READS = ['/', '/queue', '/metrics', '/events', '/page.js'];
const ORDER = { taskId: 1, fencingToken: 1, by: 'ada', reason: 'it hangs' };

describe('without authorize', () => {
  test('reads are served on the loopback, under each of its names', async () => {
    await using site = await openSite();
    for (const from of ['http://localhost', 'http://127.0.0.1:8080', 'http://127.8.9.1:1', 'http://[::1]:8080'])
      expect((await site.ask('/queue', { from })).status).toBe(200);
  });

  test('whoever comes by another name is refused everything', async () => {
    await using site = await openSite();
    for (const from of [
      'http://rebound.example:8080',
      'http://10.0.0.7',
      'http://localhost.example',
      'http://127.0.0.1.example',
    ])
      for (const path of READS)
        expect(await site.ask(path, { from })).toMatchObject({ status: 403, body: { type: 'foreign-host' } });
    for (const host of ['rebound.example', 'localhost@rebound.example', 'rebound.example/localhost', '', 'a b'])
      expect(await site.ask('/queue', { headers: { host } })).toMatchObject({ status: 403 });
  });

  test('whoever comes through a proxy, or from another host, is refused', async () => {
    await using site = await openSite();
    for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'])
      expect(await site.ask('/queue', { headers: { [name]: '10.0.0.7' } })).toMatchObject({
        status: 403,
        body: { type: 'not-local' },
      });
    const asked = async (remoteAddress: string) =>
      (await site.handler(new Request('http://localhost/queue'), { remoteAddress })).status;
    expect(await asked('10.0.0.7')).toBe(403);
    expect(await asked('::ffff:10.0.0.7')).toBe(403);
    expect(await asked('127.0.0.1.example')).toBe(403);
    for (const own of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(await asked(own)).toBe(200);
  });

  test('every order is refused, and nothing is done', async () => {
    await using site = await openSite();
    const lease = (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const order = { ...ORDER, fencingToken: lease.fencingToken };
    for (const path of ['/transition-lease/release', '/effects/resolve', '/transitions/abandon'])
      expect(await site.post(path, order)).toMatchObject({ status: 403, body: { type: 'forbidden' } });
    expect((await site.ask('/queue')).body['leases']).toHaveLength(1);
  });
});

describe('with authorize', () => {
  const openAs = (authorize: NonNullable<HttpOptions['authorize']>, more: HttpOptions = {}) =>
    openSite({ authorize, ...more });
  const release = async (site: Awaited<ReturnType<typeof openSite>>, more: object = {}) => {
    const { fencingToken } = (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    return site.post('/transition-lease/release', { ...ORDER, fencingToken, ...more });
  };

  test('it is asked for each request what that wants, and its word counts', async () => {
    const asked: string[] = [];
    await using site = await openAs((request, action) => {
      asked.push(`${new URL(request.url).pathname} ${action}`);
      return action === 'release';
    });
    expect((await site.ask('/queue')).status).toBe(403);
    expect((await site.ask('/')).status).toBe(403);
    expect((await site.post('/effects/resolve', {})).status).toBe(403);
    expect((await release(site)).status).toBe(200);
    expect(asked).toEqual(['/queue read', '/ read', '/effects/resolve resolve', '/transition-lease/release release']);
  });

  test.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('no session'))],
    ['says nothing', () => undefined],
    ['says a word that is none', () => 'yes'],
    ['names nobody', () => ({ by: 7 })],
  ])('one that %s has not said yes', async (_, authorize) => {
    await using site = await openAs(authorize as NonNullable<HttpOptions['authorize']>);
    expect(await site.ask('/queue')).toMatchObject({ status: 403, body: { type: 'forbidden' } });
    expect((await release(site)).status).toBe(403);
  });

  test('an order is carried out in the name that it found, whatever name the order gives', async () => {
    await using site = await openAs(() => ({ by: 'grace' }));
    expect((await release(site)).status).toBe(200);
    expect(site.events.at(-1)).toMatchObject({ type: 'operator.acted', by: 'grace', reason: 'it hangs' });
  });

  test('its own response is sent', async () => {
    await using site = await openAs(() => new Response('log in', { status: 401 }));
    expect(await site.ask('/queue')).toMatchObject({ status: 401, text: 'log in' });
    expect(await release(site)).toMatchObject({ status: 401 });
  });

  test('other names are served if hosts has them, with or without a port', async () => {
    await using site = await openAs(() => true, { hosts: ['Ops.example', 'localhost:8080'] });
    const status = async (from: string) => (await site.ask('/queue', { from })).status;
    expect(await status('http://ops.example')).toBe(200);
    expect(await status('http://ops.example:9000')).toBe(200);
    expect(await status('http://localhost:8080')).toBe(200);
    expect(await status('http://localhost:8081')).toBe(403);
    expect(await status('http://rebound.example')).toBe(403);
    const host = { headers: { host: 'ops.example' } };
    expect((await site.ask('/queue', { from: 'http://10.0.0.7:3000', ...host })).status).toBe(200);
  });

  test('an order from a page of elsewhere is refused before it is asked', async () => {
    let asked = 0;
    await using site = await openAs(() => (asked += 1) > 0, { hosts: ['localhost', 'ops.example'] });
    for (const origin of ['http://rebound.example', 'http://localhost', 'http://localhost:8081', 'null', ''])
      expect(await site.post('/transition-lease/release', ORDER, { origin })).toMatchObject({
        status: 403,
        body: { type: 'foreign-origin' },
      });
    for (const site_ of ['cross-site', 'same-site'])
      expect((await site.post('/transition-lease/release', ORDER, { 'sec-fetch-site': site_ })).status).toBe(403);
    expect(asked).toBe(0);
    const own = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' };
    expect((await site.post('/transition-lease/release', ORDER, own)).status).toBe(409);
    const behindTls = { origin: 'https://ops.example', host: 'ops.example' };
    expect((await site.post('/transition-lease/release', ORDER, behindTls)).status).toBe(409);
  });
});

test('https of the loopback is not taken for its own page', async () => {
  await using site = await openSite();
  const headers = { origin: 'https://localhost:8080' };
  expect((await site.ask('/queue', { headers })).status).toBe(403);
});

test('every answer is kept by nobody, framed by nobody and loads nothing from elsewhere', async () => {
  await using site = await openSite();
  for (const path of [...READS.filter((each) => each !== '/events'), '/nowhere']) {
    const { headers } = await site.ask(path);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBe(null);
  }
});

test('what breaks in the application is not told to strangers', async () => {
  await using site = await openSite({
    queue: () => {
      throw new Error('password hidden');
    },
  });
  const answer = await site.ask('/queue');
  expect(answer).toMatchObject({ status: 500, body: { type: 'broken' } });
  expect(answer.text).not.toContain('hidden');
  const after = createHttpHandler(site.ownership);
  expect((await answerOf(await after(new Request('http://localhost/queue')))).status).toBe(200);
});

test('options that cannot work are refused when the handler is made', async () => {
  await using site = await openSite();
  const make = (options: HttpOptions) => () => createHttpHandler(site.ownership, options);
  for (const basePath of ['ownership', '/ownership/', '/', '/a//b', '/..', '/a b', '/"'])
    expect(make({ basePath })).toThrow('basePath must be a path like "/ownership", without a slash at its end');
  expect(make({ hosts: ['ops.example'] })).toThrow('hosts needs authorize');
  expect(make({ authorize: () => true, hosts: ['https://ops.example'] })).toThrow('hosts[] must be a name');
  await site.db.transaction().execute(async (trx) => {
    expect(() => createHttpHandler(site.ownership.using(trx))).toThrow('not one made by using(trx)');
  });
});
