import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { NotInstalled } from './server.js';

/** Servers refuse to run as root: there they run as nobody. */
const isRoot = process.getuid?.() === 0;
const asNobody = isRoot ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] : [];

/** The path of a program, looked for in folders and then where programs are. */
export function installed(program: string, ...folders: readonly string[]): string {
  const path = [...folders, ...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, program))
    .find((candidate) => existsSync(candidate));
  if (path === undefined) throw new NotInstalled(`${program} is not installed`);
  return path;
}

/** The folders of all versions of a package, the newest first. */
export function versions(root: string, below: string): string[] {
  if (!existsSync(root)) return [];
  const numbers = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return numbers.map((version) => join(root, version, below));
}

/** A server process over a folder of its own, which it alone may read. */
export class Daemon {
  readonly folder: string;
  readonly #under: readonly string[];
  #line: readonly string[] = [];
  #process: ChildProcess | undefined;
  #words = '';

  /** `under`: what stands before every program on its command line. */
  constructor(name: string, under: readonly string[] = []) {
    this.folder = mkdtempSync(join(tmpdir(), `${name}-`));
    this.#under = [...under, ...asNobody];
    if (isRoot) execFileSync('chown', ['nobody', this.folder]);
  }

  /** Runs a program to its end. */
  run(line: readonly string[]): void {
    const [program = '', ...rest] = [...this.#under, ...line];
    execFileSync(program, rest, { cwd: this.folder, env: this.#environment(), stdio: 'pipe' });
  }

  /** Starts the server, and waits until `answers` does not throw. */
  async start(line: readonly string[], answers: () => Promise<unknown>): Promise<void> {
    this.#line = line;
    const [program = '', ...rest] = [...this.#under, ...line];
    const child = spawn(program, rest, {
      cwd: this.folder,
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (this.#words += String(text)));
    this.#process = child;
    for (let tries = 0; ; tries += 1) {
      try {
        await answers();
        return;
      } catch (error) {
        if (child.exitCode !== null || tries === 600) throw new Error(`no answer: ${this.#words}`, { cause: error });
      }
      await setTimeout(50);
    }
  }

  /** Ends the server by a signal, and starts it again. */
  async restart(signal: NodeJS.Signals, answers: () => Promise<unknown>): Promise<void> {
    await this.#stop(signal);
    await this.start(this.#line, answers);
  }

  /** Ends the server and removes its folder. */
  async remove(): Promise<void> {
    await this.#stop('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'close');
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, HOME: this.folder };
  }
}
