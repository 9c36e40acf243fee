import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createHttpHandler, toNodeListener } from 'transition-ownership/http';
import type { Orchestrator } from '../orchestrator.js';
import { type Action, actions } from './actions.js';
import { bodyOf, isForeign } from './guard.js';
import { readQueue } from './queue.js';

const statuses: Readonly<Record<string, number>> = { 'task-not-found': 404, 'store-failure': 503 };

/** The server; its viewers are sent home before it can close. */
type Served = Server & { readonly leave: () => void };

/**
 * Serves the orchestrator on the loopback: whoever can reach it by its own name may operate it. Port 0 takes any free one.
 *
 * What the library shows, and takes orders for, is its own handler; the tasks and the webhooks are the orchestrator's.
 */
export async function serve(orchestrator: Orchestrator, { port }: { port: number }): Promise<Served> {
  const handler = createHttpHandler(orchestrator.ownership, {
    authorize: () => true,
    queue: () => readQueue(orchestrator),
  });
  const answerTheRest = toNodeListener(handler);
  const server = createServer((request, response) => {
    const action = request.method === 'POST' ? actions[request.url ?? ''] : undefined;
    if (action === undefined) {
      answerTheRest(request, response);
      return;
    }
    act(orchestrator, { action, request, response }).catch((error: unknown) => {
      // The library throws for a request of the wrong shape only, before it has done anything.
      const misuse = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
      const message = error instanceof Error ? error.message : String(error);
      reply(response, misuse ? 400 : 500, { type: misuse ? 'misuse' : 'broken', message });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return Object.assign(server, { leave: () => handler.close() });
}

interface Exchange {
  readonly action: Action;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function act(orchestrator: Orchestrator, { action, request, response }: Exchange): Promise<void> {
  if (isForeign(request)) {
    reply(response, 403, { type: 'foreign', message: 'This server answers on the loopback, by its own name.' });
  } else if (request.headers['content-type'] !== 'application/json') {
    // A form of a foreign page cannot send this type without being asked first.
    reply(response, 415, { type: 'not-json', message: 'Send application/json.' });
  } else {
    const body = await bodyOf(request);
    if (body === undefined) {
      response.setHeader('connection', 'close');
      reply(response, 413, { type: 'too-long', message: 'The body is longer than any that is meant.' });
      return;
    }
    const done = await action(orchestrator, body as Parameters<Action>[1]);
    if (done.isOk()) reply(response, 200, done.value);
    else reply(response, statuses[done.error.type] ?? 409, done.error);
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
