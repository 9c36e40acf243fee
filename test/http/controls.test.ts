import { acquireLease } from 'transition-ownership';
import { createHttpHandler, type HttpOptions } from 'transition-ownership/http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openSite } from './site.js';

type Make = typeof createHttpHandler;

/** What is asked of a handler over a lease of task 1, and the status that it must answer with. */
interface Promised {
  readonly options?: HttpOptions;
  readonly path?: string;
  readonly init?: RequestInit;
  readonly from?: string;
  readonly peer?: { readonly remoteAddress: string };
  readonly status: number;
}

const order = (more: object = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ taskId: 1, fencingToken: 1, by: 'ada', reason: 'it hangs', ...more }),
});
const release = '/transition-lease/release';

/** Each guard: the part of it that is taken away, and what is then not refused any more. */
const guards: readonly (readonly [guard: string, module: string, without: object, promised: Promised])[] = [
  ['who asks from where', 'guard', { refuseForeign: () => undefined }, { from: 'http://rebound.example', status: 403 }],
  [
    'who asks from afar',
    'guard',
    { refuseForeign: () => undefined },
    { peer: { remoteAddress: '10.0.0.7' }, status: 403 },
  ],
  [
    'whose page asks',
    'guard',
    { refuseForeign: () => undefined },
    {
      options: { authorize: () => true },
      path: release,
      init: { ...order(), headers: { 'content-type': 'application/json', origin: 'http://rebound.example' } },
      status: 403,
    },
  ],
  [
    'who may order',
    'authorized',
    { authorized: () => ({ by: undefined }) },
    { path: release, init: order(), status: 403 },
  ],
  [
    'how long a body is',
    'body',
    { readBody: async (request: Request) => ({ is: 'object', value: (await request.json()) as object }) },
    {
      options: { authorize: () => true },
      path: release,
      init: order({ reason: 'x'.repeat(70_000) }),
      status: 413,
    },
  ],
];

async function statusOf(
  make: Make,
  { options = {}, path = '/queue', init = {}, from, peer }: Promised,
): Promise<number> {
  await using site = await openSite();
  void (await acquireLease(site.ownership, { taskId: 1, actor: 'monitor' }))._unsafeUnwrap();
  const handler = make(site.ownership, options);
  return (await handler(new Request(`${from ?? 'http://localhost:8080'}${path}`, init), peer)).status;
}

afterEach(() => {
  vi.doUnmock('../../src/http/guard.js');
  vi.doUnmock('../../src/http/authorized.js');
  vi.doUnmock('../../src/http/body.js');
  vi.resetModules();
});

describe('the handler', () => {
  test.each(guards)('looks %s, and without that look does what it must not', async (_, module, without, promised) => {
    expect(await statusOf(createHttpHandler, promised)).toBe(promised.status);
    vi.resetModules();
    vi.doMock(`../../src/http/${module}.js`, () => without);
    const broken = await import('../../src/http/create-http-handler.js');
    expect(await statusOf(broken.createHttpHandler, promised)).not.toBe(promised.status);
  });
});
