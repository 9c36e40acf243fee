import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpHandler } from './http-options.js';

/**
 * Lets a server of `node:http` serve a Fetch handler: `createServer(toNodeListener(handler))`, or in Express
 * `app.use('/ownership', toNodeListener(handler))`.
 *
 * It tells the handler the address of the other end.
 */
export function toNodeListener(handler: HttpHandler): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    void answer(handler, request, response).catch(() => response.destroy());
  };
}

async function answer(handler: HttpHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers, socket } = request;
  const { originalUrl = request.url ?? '/' } = request as { originalUrl?: string };
  const url = `http://${headers.host ?? ''}${originalUrl}`;
  if (!originalUrl.startsWith('/') || !URL.canParse(url)) {
    response.writeHead(400).end();
    return;
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const asked = new Request(url, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as [string, string]],
    ),
    ...(hasBody && { body: request as unknown as ReadableStream, duplex: 'half' }),
  });
  const served = await handler(asked, { remoteAddress: socket.remoteAddress });
  // What was not read of a body is not waited for.
  if (hasBody && !request.readableEnded) response.setHeader('connection', 'close');
  response.writeHead(served.status, Object.fromEntries(served.headers));
  const reader = served.body?.getReader();
  response.once('close', () => void reader?.cancel().catch(() => undefined));
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    if (!response.write(read.value)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
    if (response.destroyed) done();
  });
}
