import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import type { OwnershipEvent } from 'transition-ownership';
import { afterEach, vi } from 'vitest';
import { program } from './bundle.js';
import type { Commands } from './child/commands.js';
import type { Setup } from './child/setup.js';

/** One line that a child said. */
export type Line = Readonly<Record<string, unknown>>;

/** How a child ended. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What stands before the child on its command line. */
export interface Launch {
  readonly under?: readonly string[];
}

type ArgumentOf<F> = F extends (argument: infer A) => unknown ? A : never;
type AnswerOf<F> = F extends (argument: never) => infer R ? Awaited<R> : never;

const living = new Set<Pick<Child, 'kill'>>();

// Processes start slowly on a machine that has much else to do.
vi.setConfig({ testTimeout: 60_000 });

afterEach(async () => {
  await Promise.all([...living].map((child) => child.kill()));
});

/** A process of the test's own, and the line to it. Whatever it started dies with it. */
export class Child<C extends object = Commands> {
  /** Every event that its library told, oldest first. */
  readonly events: OwnershipEvent[] = [];
  readonly ended: Promise<End>;
  readonly #process: ChildProcess;
  readonly #lines: Line[] = [];
  readonly #waiting = new Set<() => void>();
  #calls = 0;
  #errors = '';
  #end: End | undefined;

  constructor(name: string, argument: object, { under = [] }: Launch = {}) {
    const line = [...under, process.execPath, program(name), JSON.stringify(argument)];
    // A group of its own: what it started is ended with it.
    this.#process = spawn(line[0] ?? '', line.slice(1), { stdio: 'pipe', detached: true });
    const { stdin, stdout, stderr } = this.#process;
    if (stdin === null || stdout === null || stderr === null) throw new Error('the child has no pipes');
    stdin.on('error', () => undefined); // It may die with words of ours unread.
    stderr.on('data', (text) => (this.#errors += String(text)));
    createInterface(stdout).on('line', (text) => this.#heard(JSON.parse(text) as Line));
    living.add(this);
    this.ended = once(this.#process, 'close').then(([code, signal]) => {
      living.delete(this);
      this.#end = { code: code as number | null, signal: signal as NodeJS.Signals | null };
      this.#wake();
      return this.#end;
    });
  }

  get pid(): number {
    if (this.#process.pid === undefined) throw new Error('the child was never started');
    return this.#process.pid;
  }

  /** Has the child run a command; rejects if the command throws there or the child ends first. */
  call<K extends keyof C & string>(command: K, argument?: ArgumentOf<C[K]>): Promise<AnswerOf<C[K]>> {
    const answered = this.#answer(command, argument) as Promise<AnswerOf<C[K]>>;
    answered.catch(() => undefined); // Whoever does not wait for the answer may see the child end first.
    return answered;
  }

  async #answer(command: string, argument: unknown): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    this.tell(JSON.stringify({ id, command, argument }));
    const line = await this.#line((heard) => heard['id'] === id);
    if ('thrown' in line) throw new Error(`${command}: ${JSON.stringify(line['thrown'])}`);
    return line['answer'];
  }

  /** Waits until the child says something; each line is heard once. */
  said(what: string): Promise<Line> {
    return this.#line((heard) => heard['said'] === what);
  }

  /** True if the child has not said this, up to the latest answer that was waited for. */
  unheard(what: string): boolean {
    return this.#lines.every((heard) => heard['said'] !== what);
  }

  /** Waits until the child's library has told an event of a type, for the n-th time since the start. */
  async event(type: OwnershipEvent['type'], nth = 1): Promise<OwnershipEvent> {
    for (;;) {
      const event = this.events.filter((told) => told.type === type)[nth - 1];
      if (event !== undefined) return event;
      await this.#change(`told of ${type}`);
    }
  }

  tell(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Stops the child, and waits until it stands. */
  async stop(): Promise<void> {
    this.signal('SIGSTOP');
    await this.#stands();
  }

  /** Waits until the child has stopped itself where it was told to. */
  async standsStill(): Promise<void> {
    await this.said('standing still');
    await this.#stands();
  }

  async #stands(): Promise<void> {
    while (stateOf(this.pid) !== 'T') await setImmediate();
  }

  /** Ends the child and all that it started. */
  async kill(): Promise<End> {
    if (this.#end !== undefined) return this.#end;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // It ended by itself a moment ago.
    }
    return this.ended;
  }

  #heard(line: Line): void {
    if ('event' in line) this.events.push(line['event'] as OwnershipEvent);
    else this.#lines.push(line);
    this.#wake();
  }

  async #line(wanted: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const at = this.#lines.findIndex(wanted);
      const [line] = at === -1 ? [] : this.#lines.splice(at, 1);
      if (line !== undefined) return line;
      await this.#change('said what was waited for');
    }
  }

  #change(what: string): Promise<void> {
    if (this.#end !== undefined) {
      throw new Error(`the child ended (${JSON.stringify(this.#end)}) before it ${what}: ${this.#errors}`);
    }
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Starts a process that obeys commands. */
export function start(setup: Setup, launch?: Launch): Child {
  return new Child('obedient', setup, launch);
}

/** The state letter of a process, by proc(5): `T` stopped, `Z` ended but not collected; `null` if there is none. */
export function stateOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return null;
  }
}
