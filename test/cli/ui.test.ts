import { acquireLease, createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { expect, test } from 'vitest';
import { kinds, mapping, type Place } from './places.js';
import { begin, tool } from './tool.js';

async function open(place: Place) {
  const own = createTransitionOwnership({ db: place.db, tasks: mapping.tasks, effects: {} });
  (await ensureSchema(own))._unsafeUnwrap();
  await place.db.insertInto('tasks').values({ id: 7, stage: 'deploy' }).execute();
  const lease = (await acquireLease(own, { taskId: 7, actor: 'monitor' }))._unsafeUnwrap();
  const working = begin(['ui', ...place.database, '--by', 'ada']);
  const [address = ''] = await working.lines(1);
  return { own, lease, working, address, top: new URL('/', address).href };
}

test('ui serves the page to whoever has its address, and obeys in the name of its user', async () => {
  await using place = await kinds.sqlite.open();
  const { own, lease, working, address, top } = await open(place);

  const first = await fetch(address, { redirect: 'manual' });
  expect([first.status, first.headers.get('location')]).toEqual([303, '/']);
  const set = first.headers.get('set-cookie') ?? '';
  expect(set).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
  const cookie = set.split(';')[0] ?? '';
  expect(await (await fetch(top, { headers: { cookie } })).text()).toContain('<title>Transition ownership</title>');
  expect(await (await fetch(`${top}queue`, { headers: { cookie } })).json()).toMatchObject({
    leases: [{ taskId: 7, actor: 'monitor' }],
  });

  const order = (headers: Record<string, string>) =>
    fetch(`${top}transition-lease/release`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ taskId: 7, fencingToken: lease.fencingToken, by: 'mallory', reason: 'it hangs' }),
    });
  for (const headers of [
    {},
    { cookie: `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}` },
    { cookie: cookie.replace(/=.*/, '=') },
  ])
    expect((await order(headers as Record<string, string>)).status).toBe(401);
  expect((await order({ cookie, origin: 'http://127.0.0.1:1' })).status).toBe(403);
  expect(await (await order({ cookie })).json()).toMatchObject({ actor: 'monitor' });

  const watched = await fetch(`${top}events`, { headers: { cookie } });
  expect(await readUntil(watched, '"by":"ada"')).toContain('"reason":"it hangs"');
  working.interrupt();
  expect(await working.ended).toMatchObject({ code: 0, stderr: '' });
  void (await own.close({ deadlineMs: 0 }));
});

test('ui says so where its port is taken', async () => {
  await using place = await kinds.sqlite.open();
  const { own, working, address } = await open(place);
  const second = await tool('ui', ...place.database, '--port', new URL(address).port);
  expect(second.code).toBe(2);
  expect(second.stderr).toMatch(/^transition-ownership: The page cannot be served: listen EADDRINUSE/);
  working.interrupt();
  await working.ended;
  void (await own.close({ deadlineMs: 0 }));
});

async function readUntil(response: Response, word: string): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!text.includes(word)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  return text;
}
