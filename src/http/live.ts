import type { Context } from '../context.js';
import type { OwnershipEvent, ScheduledCall } from '../index.js';
import { plainValue, refusal, reply } from './replies.js';

/** An event, and when it was told. */
interface Told {
  readonly at: string;
  readonly event: OwnershipEvent;
}

/** One who watches. */
interface Viewer {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** When its stream ends, by the clock of this process: whoever may watch no longer is then not let in again. */
  readonly until: number;
}

/** How many events a new viewer is shown. */
const REMEMBERED = 100;
const MAX_VIEWERS = 100;
/** How many messages may wait for a viewer who does not take them. */
const MAX_WAITING = 500;
const EVERY_MS = 2_000;
/** Soon after something was told; much of what is told comes together. */
const SOON_MS = 100;
const MAX_STREAM_MS = 15 * 60_000;

const encoder = new TextEncoder();

/** Everybody who watches: server-sent events, the last ones first for whoever comes late, and the queue as it is. */
export class Live {
  readonly #context: Context;
  readonly #read: () => Promise<object | undefined>;
  readonly #viewers = new Set<Viewer>();
  readonly #recent: Told[] = [];
  #next: { readonly at: number; readonly call: ScheduledCall } | undefined;
  #showing = false;
  #closed = false;

  constructor(context: Context, read: () => Promise<object | undefined>) {
    this.#context = context;
    this.#read = read;
    context.observer.follow((event) => this.#tell(event));
  }

  /** The stream of a new viewer. */
  join(): Response {
    if (this.#closed || this.#viewers.size >= MAX_VIEWERS)
      return refusal(503, 'too-many', 'No more viewers are let in at present.');
    let viewer: Viewer | undefined;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          viewer = { controller, until: this.#now() + MAX_STREAM_MS };
          this.#viewers.add(viewer);
          controller.enqueue(encoder.encode('retry: 2000\n\n'));
          for (const told of this.#recent) controller.enqueue(message('told', told));
        },
        cancel: () => void (viewer !== undefined && this.#viewers.delete(viewer)),
      },
      { highWaterMark: MAX_WAITING },
    );
    this.#showIn(0);
    return reply(200, 'text/event-stream', stream);
  }

  /** Sends everybody home. */
  close(): void {
    this.#closed = true;
    for (const viewer of this.#viewers) this.#end(viewer);
    this.#next?.call.cancel();
  }

  #now(): number {
    return this.#context.ports.clock.monotonicMs();
  }

  #tell(event: OwnershipEvent): void {
    const told = { at: new Date(this.#context.ports.clock.wallMs()).toISOString(), event };
    this.#recent.push(told);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    if (this.#viewers.size === 0) return;
    this.#send(message('told', told));
    // What is told by the reading itself must not make it read again.
    if (!this.#showing) this.#showIn(SOON_MS);
  }

  /** Shows the queue in so many ms, or when it was to be shown anyway if that is sooner. */
  #showIn(ms: number): void {
    const at = this.#now() + ms;
    if (this.#viewers.size === 0 || this.#showing || (this.#next !== undefined && this.#next.at <= at)) return;
    this.#next?.call.cancel();
    const call = this.#context.ports.clock.schedule(ms, () => void this.#show(), { background: true });
    this.#next = { at, call };
  }

  async #show(): Promise<void> {
    this.#next = undefined;
    this.#showing = true;
    const queue = await this.#read();
    this.#showing = false;
    this.#send(queue === undefined ? message('trouble', {}) : message('state', queue));
    for (const viewer of this.#viewers) if (viewer.until <= this.#now()) this.#end(viewer);
    if (this.#context.closing.begun) this.close();
    else this.#showIn(EVERY_MS);
  }

  #send(bytes: Uint8Array): void {
    for (const viewer of this.#viewers) {
      if ((viewer.controller.desiredSize ?? 0) <= 0) this.#end(viewer);
      else viewer.controller.enqueue(bytes);
    }
  }

  #end(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    viewer.controller.close();
  }
}

function message(name: string, data: unknown): Uint8Array {
  return encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data, plainValue)}\n\n`);
}
