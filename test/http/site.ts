import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Kysely, sql } from 'kysely';
import { createTransitionOwnership, ensureSchema, type OwnershipEvent } from 'transition-ownership';
import { createHttpHandler, type HttpHandler, type HttpOptions, toNodeListener } from 'transition-ownership/http';
import { openSqlite } from 'transition-ownership/sqlite';

interface Tables {
  tasks: { id: number; stage: string };
}

/** A database in memory with tasks, an ownership over it, and its handler. */
export async function openSite(options: HttpOptions = {}) {
  const db = new Kysely<Tables>({ dialect: openSqlite(':memory:') });
  await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
  await sql`insert into tasks values (1, 'deploy'), (2, 'deploy'), (3, 'deploy')`.execute(db);
  const events: OwnershipEvent[] = [];
  const ownership = createTransitionOwnership({
    db,
    tasks: { table: 'tasks', id: 'id', stage: 'stage' },
    effects: {},
    onEvent: (event) => events.push(event),
  });
  (await ensureSchema(ownership))._unsafeUnwrap();
  const handler = createHttpHandler(ownership, options);
  return {
    db,
    events,
    ownership,
    handler,
    ...client(handler),
    [Symbol.asyncDispose]: async () => {
      handler.close();
      void (await ownership.close({ deadlineMs: 0 }));
      await db.destroy();
    },
  };
}

/** How tests ask a handler, by the name of the loopback unless they say another. */
function client(handler: HttpHandler) {
  const ask = async (path: string, { from = 'http://localhost:8080', ...init }: RequestInit & { from?: string } = {}) =>
    answerOf(await handler(new Request(`${from}${path}`, init)));
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { ask, post };
}

/** What an answer says; its body as it is read by a program. */
export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function answerOf(response: Response): Promise<Answer> {
  const isJson = response.headers.get('content-type') === 'application/json';
  const text = response.body === null ? '' : await response.text();
  const body = (isJson ? JSON.parse(text) : {}) as Readonly<Record<string, unknown>>;
  return { status: response.status, headers: response.headers, text, body };
}

/** A real server of a handler, on the loopback. */
export async function listen(handler: HttpHandler) {
  const server = createServer(toNodeListener(handler));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** Ends only if the handler has let its viewers go. */
    close: () =>
      new Promise<void>((resolve) => {
        handler.close();
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}
