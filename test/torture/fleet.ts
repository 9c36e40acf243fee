import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { AT_WORK, type WorkerSetup } from './setup.js';

/** One place of the fleet, and the process that fills it now. */
interface Slot {
  readonly number: number;
  life: number;
  process: ChildProcess | undefined;
  killed: boolean;
  /** Resolves when its first process is at work, or ended before that. */
  readonly atWork: Promise<void>;
  readonly isAtWork: () => void;
}

/** The workers of a run: each is replaced when it is killed, until all are told to end. */
export class Fleet {
  /** How often the workers told of what befell them, by event. */
  readonly told = new Map<string, number>();
  /** What nobody asked for: workers that ended by themselves. */
  readonly accidents: string[] = [];
  readonly #program: string;
  readonly #setupOf: (slot: number, life: number) => WorkerSetup;
  readonly #slots: Slot[];
  #draining = false;

  constructor(program: string, slots: number, setupOf: (slot: number, life: number) => WorkerSetup) {
    this.#program = program;
    this.#setupOf = setupOf;
    this.#slots = Array.from({ length: slots }, (_, number) => {
      let isAtWork = (): void => {};
      const atWork = new Promise<void>((resolve) => (isAtWork = resolve));
      return { number, life: 0, process: undefined, killed: false, atWork, isAtWork };
    });
    for (const slot of this.#slots) this.#start(slot);
  }

  /** Waits until everybody has begun. */
  async atWork(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.atWork));
  }

  /** The worker with a pid, or else the one in a place. */
  find(pid: number | undefined, victim: number): number {
    const byPid = this.#slots.findIndex(({ process }) => process?.pid === pid);
    return byPid === -1 ? victim % this.#slots.length : byPid;
  }

  /** Ends a worker where it is. False if it is only just being born. */
  kill(number: number): boolean {
    const slot = this.#slots[number];
    if (slot?.process === undefined) return false;
    slot.killed = true;
    return slot.process.kill('SIGKILL');
  }

  /** Lets a worker stand still for a time, while its lease expires. */
  stop(number: number, forMs: number): boolean {
    const child = this.#slots[number]?.process;
    if (child?.kill('SIGSTOP') !== true) return false;
    setTimeout(() => child.kill('SIGCONT'), forMs);
    return true;
  }

  /** Tells all to end their work, the reaper last, and waits for it. */
  async drain(withinMs: number): Promise<void> {
    for (const { process, killed } of this.#slots) if (killed && process !== undefined) await once(process, 'close');
    this.#draining = true; // Whoever was killed has an heir by now: the reaper, too, lives to the end.
    const late = setTimeout(() => {
      this.accidents.push(`a worker had not ended ${withinMs} ms after it was told to`);
      this.killAll();
    }, withinMs);
    const [reaper, ...workers] = this.#slots;
    for (const slots of [workers, [reaper]]) await Promise.all(slots.map(async (slot) => this.#end(slot?.process)));
    clearTimeout(late);
  }

  /** Leaves no process behind, whatever happened. */
  killAll(): void {
    this.#draining = true;
    for (const slot of this.#slots) this.kill(slot.number);
  }

  async #end(child: ChildProcess | undefined): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGCONT');
    child.stdin?.end();
    await once(child, 'close');
  }

  #start(slot: Slot): void {
    const setup = this.#setupOf(slot.number, slot.life);
    const child = spawn(process.execPath, [this.#program, JSON.stringify(setup)], { stdio: 'pipe' });
    let errors = '';
    child.stderr.on('data', (text) => (errors += String(text)));
    child.stdin.on('error', () => undefined);
    createInterface(child.stdout).on('line', (line) => {
      if (line === AT_WORK) slot.isAtWork();
      else this.told.set(line, (this.told.get(line) ?? 0) + 1);
    });
    slot.process = child;
    slot.killed = false;
    child.on('close', (code, signal) => {
      slot.process = undefined;
      slot.isAtWork();
      slot.life += 1;
      if (!slot.killed && !(this.#draining && code === 0)) {
        this.accidents.push(`a worker ended by itself (${String(code ?? signal)}): ${errors.trim()}`);
      }
      if (!this.#draining) this.#start(slot);
    });
  }
}
