import type { ServerResponse } from 'node:http';
import type { OwnershipEvent } from 'transition-ownership';

/** An event, and when it was told. */
interface Told {
  readonly at: string;
  readonly event: OwnershipEvent;
}

/** How many events a new viewer is shown. */
const REMEMBERED = 100;

/** Everybody who watches: server-sent events, the last ones first for whoever comes late. */
export class Live {
  readonly #viewers = new Set<ServerResponse>();
  #recent: Told[] = [];

  /** True if a state is worth reading. */
  get watched(): boolean {
    return this.#viewers.size > 0;
  }

  join(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    for (const told of this.#recent) response.write(message('told', told));
    this.#viewers.add(response);
    response.on('close', () => this.#viewers.delete(response));
  }

  /** An event of the library. */
  tell(event: OwnershipEvent): void {
    const told = { at: new Date().toISOString(), event };
    this.#recent = [...this.#recent.slice(1 - REMEMBERED), told];
    this.#send(message('told', told));
  }

  /** The queue as it is now. */
  show(state: unknown): void {
    this.#send(message('state', state));
  }

  /** Sends everybody home, so that the server can close. */
  end(): void {
    for (const viewer of this.#viewers) viewer.end();
  }

  #send(text: string): void {
    for (const viewer of this.#viewers) viewer.write(text);
  }
}

const message = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
