import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OwnershipEvent } from 'transition-ownership';
import type { Command } from '../control.js';

/** What a process of the demo says over its channel. */
interface Message {
  readonly ready?: { readonly url: string };
  readonly at?: string;
  readonly ticked?: string;
  readonly report?: unknown;
  readonly event?: OwnershipEvent;
}

/** What an address answered. */
export interface Reply {
  readonly status: number;
  readonly body: { readonly type?: string; readonly message?: string };
}

/** Whom a process plays, and what it finds in its environment. */
interface Part {
  readonly name: string;
  readonly LEASE_TTL_MS?: string;
  readonly HOLD_AT?: string;
}

/** How long the demo waits for a process before it calls the demo broken. */
const PATIENCE_MS = 60_000;

/** A real process that runs the whole orchestrator; everything it says is kept until somebody asks for it. */
export class Child {
  readonly name: string;
  readonly #process: ChildProcess;
  #heard: Message[] = [];
  #url = '';
  #wake = (): void => {};

  constructor(directory: string, { name, ...env }: Part) {
    this.name = name;
    this.#process = fork(fileURLToPath(new URL('../main.ts', import.meta.url)), [directory], {
      env: { ...process.env, JOB_COMMAND: 'true', EFFECT_MS: '0', PORT: '0', ...env },
    });
    this.#process.on('message', (message: Message) => {
      this.#heard.push(message);
      this.#wake();
    });
    this.#process.on('exit', () => this.#wake());
    // A demo that fails leaves nobody behind, not even a frozen one.
    process.on('exit', () => this.#process.kill('SIGKILL'));
  }

  /** Waits until it has recovered and serves. */
  async ready(): Promise<this> {
    const { url } = await this.#next('is ready', ({ ready }) => ready);
    this.#url = url;
    return this;
  }

  /** Name and pid, as the story tells them. */
  get title(): string {
    return `${this.name} (pid ${this.#process.pid ?? 'none'})`;
  }

  /** Runs one tick of a role, and answers what it did. */
  async tick(role: 'worker' | 'reaper' | 'reconciler'): Promise<unknown> {
    this.#send({ tick: role });
    const done = await this.#next(`has ticked as ${role}`, (message) =>
      message.ticked === role ? message : undefined,
    );
    return done.report;
  }

  /** Sends a request to one of its addresses. */
  async post(path: string, body: unknown): Promise<Reply> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.#url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }

  /** Has it stop at a point, once. */
  holdAt(point: string): void {
    this.#send({ hold: point });
  }

  /** Waits until it has stopped at a point. */
  stopped(point: string): Promise<string> {
    return this.#next(`is at "${point}"`, ({ at }) => (at === point ? at : undefined));
  }

  /** Lets it go on. */
  go(): void {
    this.#send({ go: true });
  }

  /** Waits for an event, past or to come, and forgets it. */
  event<T extends OwnershipEvent['type']>(type: T): Promise<Extract<OwnershipEvent, { readonly type: T }>> {
    return this.#next(`tells ${type}`, ({ event }) =>
      event?.type === type ? (event as Extract<OwnershipEvent, { readonly type: T }>) : undefined,
    );
  }

  /** The events of a type that it has told so far and that nobody has asked for. */
  events<T extends OwnershipEvent['type']>(type: T): Extract<OwnershipEvent, { readonly type: T }>[] {
    const found = this.#heard.filter(({ event }) => event?.type === type);
    this.#heard = this.#heard.filter((message) => !found.includes(message));
    return found.map(({ event }) => event as Extract<OwnershipEvent, { readonly type: T }>);
  }

  /** Sends a real signal. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(signal);
  }

  /** Kills it with SIGKILL and waits until it is gone. */
  async kill(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  /** Lets it close its ownership and end by itself. */
  async leave(): Promise<void> {
    if (this.#ended) return;
    const gone = once(this.#process, 'exit');
    this.#process.disconnect();
    await gone;
  }

  get #ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  #send(command: Command): void {
    this.#process.send(command);
  }

  async #next<T>(what: string, pick: (message: Message) => T | undefined): Promise<T> {
    const begun = performance.now();
    const deadline = setTimeout(() => this.#wake(), PATIENCE_MS);
    try {
      for (;;) {
        for (const [index, message] of this.#heard.entries()) {
          const picked = pick(message);
          if (picked === undefined) continue;
          this.#heard.splice(index, 1);
          return picked;
        }
        if (this.#ended) throw new Error(`${this.title} ended before it ${what}`);
        if (performance.now() - begun >= PATIENCE_MS) throw new Error(`waited in vain until ${this.title} ${what}`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(deadline);
    }
  }
}
