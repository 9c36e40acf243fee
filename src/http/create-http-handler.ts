import { contextOf } from '../context.js';
import { parseTaskId, snapshot, type TransitionOwnership } from '../index.js';
import { authorized } from './authorized.js';
import { readBody } from './body.js';
import { explain } from './explain.js';
import { refuseForeign } from './guard.js';
import { type HttpHandler, type HttpOptions, type HttpPeer, httpSettings } from './http-options.js';
import { Live } from './live.js';
import { obey, orders } from './orders.js';
import { pageFiles } from './page/page.js';
import { PROMETHEUS_TEXT, toPrometheus } from './prometheus.js';
import { queueReader } from './queue.js';
import { failed, json, refusal, reply } from './replies.js';

/**
 * Makes a Fetch handler that shows who owns which transition, and lets operators act: mount it in your own server.
 *
 * | | |
 * |---|---|
 * | `GET /` | a page: leases with verdict and reason, broken-off transitions, unfinished effects, one task explained |
 * | `GET /queue` | the snapshot and the broken-off transitions, as JSON |
 * | `GET /metrics` | counters and gauges, in the text format of Prometheus |
 * | `GET /tasks/:id/explain` | one task: who holds it on what evidence, and its effects, as JSON |
 * | `GET /events` | server-sent events: `told` for each event of this process, `state` for the queue, `trouble` where it cannot be read |
 * | `POST /transition-lease/release` | `{ taskId, fencingToken, by, reason }`, as `forceReleaseLease` takes it |
 * | `POST /transitions/abandon` | `{ taskId, fencingToken, by, reason }`: gives up the transition of an owner that is proved dead |
 * | `POST /effects/resolve` | `{ taskId, effect, key, outcome, by, reason }`, as `resolveEffect` takes it |
 *
 * Orders are JSON of at most 64 KiB. A refusal has a status of its own and says `type` and `message`: 400 for what is no
 * order, 403 for who may not, 404, 409 for a failure of the library, 413, 415, 503 where the database does not answer.
 *
 * Without `authorize` it denies: reads are served on the loopback alone, orders never. `Host` and `Origin` are looked at
 * in any case, and its pages load nothing but themselves. A Fetch handler sees no socket: listen on the loopback, or
 * give it the address of the other end, as {@link toNodeListener} does.
 *
 * Throws `TypeError` or `RangeError` for options that cannot work, and for an ownership made by `using(trx)`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createHttpHandler, toNodeListener } from 'transition-ownership/http';
 * import { ownership } from './setup.js';
 *
 * const handler = createHttpHandler(ownership, { basePath: '/ownership' });
 * const server = createServer(toNodeListener(handler)).listen(0, '127.0.0.1');
 * // and at the end:
 * handler.close();
 * server.close();
 * ```
 */
export function createHttpHandler(ownership: TransitionOwnership, options: HttpOptions = {}): HttpHandler {
  const context = contextOf(ownership);
  const settings = httpSettings(options);
  if (context.session.inTransaction)
    throw new TypeError('createHttpHandler needs the ownership itself, not one made by using(trx)');
  const readQueue = queueReader(ownership, settings.queue);
  const live = new Live(context, async () => (await readQueue().catch(() => undefined))?.unwrapOr(undefined));
  const files = pageFiles(settings);

  const reads: Readonly<Record<string, () => Response | Promise<Response>>> = {
    ...Object.fromEntries(Object.entries(files).map(([path, [type, text]]) => [path, () => reply(200, type, text)])),
    '/queue': async () => (await readQueue()).match((queue) => json(200, queue), failed),
    '/metrics': async () =>
      (await snapshot(ownership)).match((taken) => reply(200, PROMETHEUS_TEXT, toPrometheus(taken)), failed),
    '/events': () => live.join(),
  };

  const explainTask = async (id: string): Promise<Response> => {
    const taskId = parseTaskId(ownership, decoded(id));
    if (taskId.isErr()) return failed(taskId.error);
    return (await explain(ownership, taskId.value, context.effects !== undefined)).match(
      (seen) => json(200, seen),
      failed,
    );
  };

  const serve = async (request: Request): Promise<Response> => {
    const path = pathUnder(settings.basePath, request) ?? '';
    const order = own(orders, path);
    const read = own(reads, path);
    const explained = EXPLAIN.exec(path)?.[1];
    if (order === undefined && read === undefined && explained === undefined)
      return refusal(404, 'not-found', 'There is nothing here.');
    const method = order === undefined ? 'GET' : 'POST';
    if (request.method !== method) return refusal(405, 'wrong-method', `This takes ${method}.`, {}, { allow: method });
    const allowed = await authorized(settings.authorize, request, order?.action ?? 'read');
    if ('refused' in allowed) return allowed.refused;
    if (read !== undefined) return read();
    if (order === undefined) return explainTask(explained ?? '');
    // A form of a foreign page cannot send this type without being asked first.
    if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
      return refusal(415, 'not-json', 'Send application/json.');
    const body = await readBody(request);
    if (body.is === 'too-long') return refusal(413, body.is, 'The body is longer than any that is meant.');
    if (body.is === 'not-json') return refusal(400, body.is, 'The body must be a JSON object.');
    return obey(ownership, order, body.value, allowed.by);
  };

  const handler = async (request: Request, peer?: HttpPeer): Promise<Response> => {
    try {
      return refuseForeign(request, peer, settings) ?? (await serve(request));
    } catch {
      // What broke is not told to strangers: what the database said, `store.failed` has told.
      return refusal(500, 'broken', 'The request could not be served.');
    }
  };
  return Object.assign(handler, { close: () => live.close() });
}

const EXPLAIN = /^\/tasks\/([^/]+)\/explain$/;

/** An id as it stands in a path; `undefined` for what is none. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** What the table of the orders or the reads has of its own. */
function own<T>(table: Readonly<Record<string, T>>, path: string): T | undefined {
  return Object.hasOwn(table, path) ? table[path] : undefined;
}

/** The path below the base; `undefined` for one that is elsewhere. */
function pathUnder(base: string, { url }: Request): string | undefined {
  const { pathname } = new URL(url);
  if (pathname === base) return '/';
  return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : undefined;
}
