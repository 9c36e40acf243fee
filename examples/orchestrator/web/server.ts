import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Orchestrator } from '../orchestrator.js';
import { actions } from './actions.js';
import { bodyOf, isForeign } from './guard.js';
import type { Live } from './live.js';
import { readQueue, toMetrics } from './queue.js';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const pages: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/': ['text/html', read('page.html')],
  '/page.css': ['text/css', read('page.css')],
  '/page.js': ['text/javascript', read('page.js')],
};
const statuses: Readonly<Record<string, number>> = { 'task-not-found': 404, 'store-failure': 503 };

/** Serves the orchestrator on the loopback: whoever can reach it by its own name may operate it. Port 0 takes any free one. */
export async function serve(orchestrator: Orchestrator, { live, port }: { live: Live; port: number }): Promise<Server> {
  const server = createServer((request, response) => {
    route(orchestrator, { live, request, response }).catch((error: unknown) => {
      // The library throws for a request of the wrong shape only, before it has done anything.
      const misuse = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
      const message = error instanceof Error ? error.message : String(error);
      reply(response, misuse ? 400 : 500, { type: misuse ? 'misuse' : 'broken', message });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

interface Exchange {
  readonly live: Live;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function route(orchestrator: Orchestrator, { live, request, response }: Exchange): Promise<void> {
  const { method, url = '/', headers } = request;
  const page = pages[url];
  const action = actions[url];
  if (isForeign(request)) {
    reply(response, 403, { type: 'foreign', message: 'This server answers on the loopback, by its own name.' });
  } else if (method === 'GET' && page !== undefined) {
    response
      .writeHead(200, { 'content-type': page[0], 'content-security-policy': "default-src 'self'; img-src data:" })
      .end(page[1]);
  } else if (method === 'GET' && url === '/events') {
    live.join(response);
  } else if (method === 'GET' && (url === '/queue' || url === '/metrics')) {
    const queue = await readQueue(orchestrator);
    if (queue.isErr()) reply(response, 503, queue.error);
    else if (url === '/queue') reply(response, 200, queue.value);
    else response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(toMetrics(queue.value));
  } else if (method !== 'POST' || action === undefined) {
    reply(response, 404, { type: 'not-found', message: `There is no ${method} ${url}.` });
  } else if (headers['content-type'] !== 'application/json') {
    // A form of a foreign page cannot send this type without being asked first.
    reply(response, 415, { type: 'not-json', message: 'Send application/json.' });
  } else {
    const body = await bodyOf(request);
    if (body === undefined) {
      response.setHeader('connection', 'close');
      reply(response, 413, { type: 'too-long', message: 'The body is longer than any that is meant.' });
      return;
    }
    const done = await action(orchestrator, body as Parameters<typeof action>[1]);
    if (done.isOk()) reply(response, 200, done.value);
    else reply(response, statuses[done.error.type] ?? 409, done.error);
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
