import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OwnershipEvent } from 'transition-ownership';
import type { Answer } from '../actor.js';

/** What a process of the demo says over its channel. */
interface Message {
  readonly ready?: boolean;
  readonly at?: string;
  readonly answer?: Answer;
  readonly event?: OwnershipEvent;
}

/** Whom a process plays, and its environment. */
interface Part {
  readonly name: string;
  /** The point at which it stops, once. */
  readonly HOLD_AT?: string;
  /** The life of its leases. */
  readonly LEASE_TTL_MS?: string;
}

/** How long the demo waits for a process before it calls the demo broken. */
const PATIENCE_MS = 20_000;

/** A real process that runs one actor; everything it says is kept until somebody asks for it. */
export class Child {
  readonly name: string;
  readonly #process: ChildProcess;
  readonly #heard: Message[] = [];
  #wake: () => void = () => {};

  private constructor(directory: string, { name, ...env }: Part) {
    this.name = name;
    this.#process = fork(fileURLToPath(new URL('../actor.ts', import.meta.url)), [directory, name], {
      env: { ...process.env, ...env },
    });
    this.#process.on('message', (message: Message) => {
      this.#heard.push(message);
      this.#wake();
    });
    this.#process.on('exit', () => this.#wake());
    // A demo that fails leaves nobody behind, not even a frozen one.
    process.on('exit', () => this.#process.kill('SIGKILL'));
  }

  /** Starts an actor and waits until it has recovered. */
  static async start(directory: string, part: Part): Promise<Child> {
    const child = new Child(directory, part);
    await child.#next('is ready', ({ ready }) => ready);
    return child;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Name and pid, as the story tells them. */
  get title(): string {
    return `${this.name} (pid ${this.pid})`;
  }

  /** Asks it to move a task; `answer` or `stopOrAnswer` tell what came of it. */
  advance(taskId: number): void {
    this.#process.send({ advance: taskId });
  }

  /** What came of the last move that it was asked for. */
  answer(): Promise<Answer> {
    return this.#next('answers', ({ answer }) => answer);
  }

  /** Where it stopped, or its answer if it did not get that far. */
  stopOrAnswer(): Promise<{ readonly at: string } | Answer> {
    return this.#next('stops or answers', ({ at, answer }) => (at === undefined ? answer : { at }));
  }

  /** Lets it go on from the point at which it stopped. */
  go(): void {
    this.#process.send('go');
  }

  /** The events of a type that it has told so far. */
  events<T extends OwnershipEvent['type']>(type: T): Extract<OwnershipEvent, { readonly type: T }>[] {
    return this.#heard.flatMap(({ event }) =>
      event?.type === type ? [event as Extract<OwnershipEvent, { readonly type: T }>] : [],
    );
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
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.disconnect();
    await gone;
  }

  async #next<T>(what: string, pick: (message: Message) => T | undefined): Promise<T> {
    const deadline = setTimeout(() => this.#wake(), PATIENCE_MS);
    const begun = performance.now();
    try {
      for (;;) {
        for (const [index, message] of this.#heard.entries()) {
          const picked = pick(message);
          if (picked === undefined) continue;
          this.#heard.splice(index, 1);
          return picked;
        }
        if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
          throw new Error(`${this.title} ended before it ${what}`);
        }
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
