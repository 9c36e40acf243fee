import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Authorization, createHttpHandler, toNodeListener } from 'transition-ownership/http';
import type { Order } from './arguments.js';
import { Failed } from './failed.js';
import type { Ownership } from './mapping.js';
import type { Code } from './report.js';

/**
 * Serves the page on the loopback until it is interrupted, and tells its address.
 *
 * Other users of the host reach the loopback too: the address carries a key, which becomes a cookie.
 */
export async function ui(ownership: Ownership, { port, by, json }: Pick<Order, 'port' | 'by' | 'json'>): Promise<Code> {
  const key = randomBytes(24).toString('base64url');
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: unknown) => {
    throw new Failed(`The page cannot be served: ${error instanceof Error ? error.message : String(error)}.`);
  });
  const { port: taken } = server.address() as AddressInfo;
  const handler = createHttpHandler(ownership, { authorize: (request) => admit(request, { key, by, port: taken }) });
  server.on('request', toNodeListener(handler));
  const url = `http://127.0.0.1:${taken}/?key=${key}`;
  process.stdout.write(json ? `${JSON.stringify({ command: 'ui', url })}\n` : `${url}\nCtrl-C ends it.\n`);

  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  handler.close();
  server.closeAllConnections();
  server.close();
  return 0;
}

interface Door {
  readonly key: string;
  readonly by: string;
  readonly port: number;
}

/** Lets in whoever has the key: by the address at first, and from then on by a cookie that no page can read. */
function admit(request: Request, { key, by, port }: Door): Authorization {
  // Cookies are of a host, whatever the port: each page has one of its own.
  const name = `transition-ownership-${port}`;
  const given = new URL(request.url).searchParams.get('key');
  if (given !== null && isSame(given, key)) {
    const cookie = `${name}=${key}; HttpOnly; SameSite=Strict; Path=/`;
    return new Response(null, {
      status: 303,
      headers: { 'cache-control': 'no-store', location: '/', 'set-cookie': cookie },
    });
  }
  const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/).map((pair) => pair.split('='));
  const [, shown = ''] = cookies.find(([cookie]) => cookie === name) ?? [];
  if (isSame(shown, key)) return { by };
  return new Response('Open the address that the tool printed.', { status: 401 });
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
