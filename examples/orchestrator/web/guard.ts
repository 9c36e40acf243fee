import type { IncomingMessage } from 'node:http';

/** The most bytes of a body: what an action takes has room in it many times. */
const MAX_BYTES = 64 * 1_024;

/**
 * Whether a request comes from elsewhere than a page of this server, or from its operator's own tools.
 *
 * A page of another site may have its name resolved to this host, and is then of the same origin as this server: so
 * the name that was asked for must be one of ours, and so must that of the page that asks.
 */
export function isForeign({ headers, socket }: IncomingMessage): boolean {
  const own = ['127.0.0.1', 'localhost'].map((name) => `${name}:${String(socket.localPort)}`);
  const { host = '', origin } = headers;
  return !own.includes(host) || (origin !== undefined && !own.some((name) => origin === `http://${name}`));
}

/** The body as JSON; `undefined` if it is longer than any that is meant. */
export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
  return body ?? {};
}
