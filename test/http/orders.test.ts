import { sql } from 'kysely';
import { acquireLease, releaseLease, runEffect } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { openSite } from './site.js';

const open = () => openSite({ authorize: () => true });

describe('POST /transition-lease/release', () => {
  const order = { taskId: 1, fencingToken: 2, by: 'ada', reason: 'wrong branch' };

  test('takes a lease from its owner by the token that was seen, and tells nobody its claim', async () => {
    await using site = await open();
    const lease = (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const wrong = await site.post('/transition-lease/release', {
      ...order,
      fencingToken: Number(lease.fencingToken) + 1,
    });
    expect(wrong).toMatchObject({
      status: 409,
      body: { type: 'token-mismatch', holder: { actor: 'monitor', fencingToken: lease.fencingToken } },
    });
    const right = await site.post('/transition-lease/release', { ...order, fencingToken: lease.fencingToken });
    expect(right).toMatchObject({ status: 200, body: { actor: 'monitor', fencingToken: lease.fencingToken } });
    for (const { text } of [wrong, right]) expect(text).not.toContain('claim');
    expect((await releaseLease(site.ownership, lease))._unsafeUnwrap()).toBe('superseded');
    expect(await site.post('/transition-lease/release', order)).toMatchObject({
      status: 409,
      body: { type: 'already-free' },
    });
  });

  test('takes an id as JSON or as its digits, and refuses what is none', async () => {
    await using site = await open();
    expect(await site.post('/transition-lease/release', { ...order, taskId: '1' })).toMatchObject({
      body: { type: 'already-free' },
    });
    for (const taskId of ['one', null, 1.5, [1], undefined])
      expect(await site.post('/transition-lease/release', { ...order, taskId })).toMatchObject({
        status: 400,
        body: { type: 'invalid-id' },
      });
  });

  test.each([
    [{ fencingToken: '2' }, 'fencingToken must be a number, got "2"'],
    [{ by: '' }, 'by must not be empty'],
    [{ reason: undefined }, 'reason must be a string, got undefined'],
    [{ force: true }, 'request has no option "force"'],
  ])('refuses %j with the words of the library', async (wrong, message) => {
    await using site = await open();
    expect(await site.post('/transition-lease/release', { ...order, ...wrong })).toMatchObject({
      status: 400,
      body: { type: 'misuse', message: expect.stringContaining(message) as string },
    });
  });
});

describe('POST /transitions/abandon', () => {
  const order = { taskId: 1, by: 'ada', reason: 'the branch is gone' };

  test('gives up the transition of an owner that is dead, and of no other', async () => {
    await using site = await open();
    expect(await site.post('/transitions/abandon', order)).toMatchObject({ body: { type: 'already-free' } });
    const { fencingToken } = (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    expect(await site.post('/transitions/abandon', order)).toMatchObject({ status: 409, body: { type: 'lease-busy' } });
    await sql`update transition_lease set expires_ms = 1`.execute(site.db);
    const of = (token: number) => ({ ...order, fencingToken: token });
    expect(await site.post('/transitions/abandon', of(Number(fencingToken) + 1))).toMatchObject({
      status: 409,
      body: { type: 'token-mismatch' },
    });
    const given = await site.post('/transitions/abandon', of(Number(fencingToken)));
    expect(given).toMatchObject({ status: 200, body: { actor: 'monitor', fencingToken } });
    expect(given.text).not.toContain('claim');
    expect(site.events.at(-1)).toMatchObject({ type: 'operator.acted', by: 'ada', reason: 'the branch is gone' });
    expect((await site.ask('/queue')).body['leases']).toEqual([]);
  });
});

describe('POST /effects/resolve', () => {
  test('ends the hold on an effect by the word of an operator, once', async () => {
    await using site = await open();
    const lease = (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
    const effect = { effect: 'merge_pr', key: 'c0ffee' };
    const broken = runEffect(site.ownership, lease, { ...effect, apply: () => Promise.reject(new Error('hung up')) });
    expect((await broken)._unsafeUnwrapErr().type).toBe('effect-unknown');
    void (await releaseLease(site.ownership, lease));
    expect((await site.ask('/queue')).body['transitions']).toMatchObject([
      { taskId: 1, decision: 'hold', effects: [{ ...effect, state: 'started' }] },
    ]);
    const word = { taskId: 1, ...effect, outcome: 'applied', by: 'ada', reason: 'it is on main' };
    expect(await site.post('/effects/resolve', word)).toMatchObject({ status: 200, body: { type: 'resolved' } });
    expect(await site.post('/effects/resolve', word)).toMatchObject({ status: 409, body: { type: 'already-applied' } });
    expect(await site.post('/effects/resolve', { ...word, key: 'f00' })).toMatchObject({
      status: 404,
      body: { type: 'not-found' },
    });
    expect((await site.ask('/queue')).body['transitions']).toEqual([]);
  });
});

describe('a body', () => {
  test('is JSON, an object, and bounded', async () => {
    await using site = await open();
    const post = (body: string, type = 'application/json') =>
      site.post('/transition-lease/release', body, { 'content-type': type });
    expect(await post('{}', 'text/plain')).toMatchObject({ status: 415, body: { type: 'not-json' } });
    expect(await post('{}', 'application/jsonp')).toMatchObject({ status: 415 });
    expect(await post('{}', 'application/json; charset=utf-8')).toMatchObject({
      status: 400,
      body: { type: 'invalid-id' },
    });
    for (const body of ['', '{', '[]', 'null', '7', '"x"'])
      expect(await post(body)).toMatchObject({ status: 400, body: { type: 'not-json' } });
    const long = JSON.stringify({ taskId: 1, pad: 'x'.repeat(70_000) });
    expect(await post(long)).toMatchObject({ status: 413, body: { type: 'too-long' } });
  });

  test('that never ends is not read to its end', async () => {
    await using site = await open();
    let taken = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        taken += 1_024;
        controller.enqueue(new Uint8Array(1_024).fill(32));
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
    expect(await site.ask('/transition-lease/release', init as RequestInit)).toMatchObject({ status: 413 });
    expect(taken).toBeLessThan(80 * 1_024);
  });
});

test('a path is served by its own method alone', async () => {
  await using site = await open();
  expect(await site.ask('/nowhere')).toMatchObject({ status: 404 });
  expect(await site.ask('/toString')).toMatchObject({ status: 404 });
  const wrong = await site.ask('/transition-lease/release');
  expect(wrong).toMatchObject({ status: 405, body: { type: 'wrong-method' } });
  expect(wrong.headers.get('allow')).toBe('POST');
  expect((await site.post('/queue', {})).headers.get('allow')).toBe('GET');
});

test('a database that does not answer is 503, for reads and orders', async () => {
  await using site = await open();
  await site.db.destroy();
  for (const path of ['/queue', '/metrics'])
    expect(await site.ask(path)).toMatchObject({ status: 503, body: { type: 'store-failure' } });
  const order = { taskId: 1, fencingToken: 2, by: 'ada', reason: 'wrong branch' };
  expect(await site.post('/transition-lease/release', order)).toMatchObject({ status: 503 });
});
