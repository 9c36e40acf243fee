import type { ClaimRegistry } from '../../index.js';
import type { TestConnection } from '../store/store.js';
import { asText, type Interner } from './interner.js';
import type { OpenOperation } from './operations.js';
import type { InFlight, Parked } from './parked.js';
import type { Point, ProcessView } from './view.js';

/** A promise that a dead process awaits. */
export const never = new Promise<never>(() => {});

/** What tells one start of a process from another. */
export interface Birth {
  readonly name: string;
  /** The place of the process in the scenario. */
  readonly index: number;
  readonly incarnation: number;
  readonly pid: number;
  /** Numbers points on from where the last incarnation stopped. */
  readonly firstPoint: number;
}

/** One start of a simulated process, from the world's side. */
export class Incarnation implements ProcessView {
  readonly name: string;
  readonly index: number;
  readonly incarnation: number;
  readonly pid: number;
  readonly bootId: string;
  readonly registry: ClaimRegistry = new Map();
  readonly operations = new Set<OpenOperation>();
  state: ProcessView['state'] = 'running';
  result?: unknown;
  error?: unknown;
  pending: Parked[] = [];
  inFlight: InFlight[] = [];
  nextPoint: number;
  connection: TestConnection | undefined;
  /** The last point that it passed, for a message. */
  passed = '';
  /** What becomes of an error that no one awaits, as one of a timer's callback. */
  die: (error: unknown) => void = () => undefined;
  /** Stands for everything this process has seen, and so for its local state. */
  seen = 0;
  /** What an open transaction may still see: the tables as they were when it began. */
  view = '';
  /** Something of it has changed since it was last compared with other lives. */
  changed = true;
  private lastRead = '';
  private readonly interner: Interner;

  constructor(birth: Birth, interner: Interner) {
    this.name = birth.name;
    this.index = birth.index;
    this.incarnation = birth.incarnation;
    this.pid = birth.pid;
    this.bootId = `boot-${birth.name}-${birth.incarnation}`;
    this.nextPoint = birth.firstPoint;
    this.interner = interner;
  }

  get alive(): boolean {
    return this.state === 'running';
  }

  /** Takes note of something that the process's next moves may depend on. */
  see(what: string): void {
    this.seen = this.interner.link(this.seen, what);
    this.lastRead = '';
    this.changed = true;
  }

  /** The same for a reading (a clock, a pid): an equal one right after tells nothing new. */
  seeReading(what: string): void {
    if (what === this.lastRead) return;
    this.see(what);
    this.lastRead = what;
  }

  /** Parks the process until the world lets it go on; for ever, if it is dead. */
  park<T>(
    kind: Point['kind'],
    label: string,
    at: Partial<Pick<Parked, 'params' | 'wakeMs' | 'background' | 'run'>>,
  ): Promise<T> {
    if (!this.alive) return never;
    this.changed = true;
    return new Promise((resolve, reject) => {
      this.pending.push({
        process: this.name,
        kind,
        label,
        params: at.params ?? [],
        id: this.nextPoint++,
        wakeMs: at.wakeMs,
        background: at.background ?? false,
        blockedAt: -1,
        run: at.run ?? (() => undefined),
        resolve,
        reject,
      });
    });
  }

  /** Takes a point back that is no longer wanted. */
  unpark(id: number): void {
    this.changed = true;
    this.pending = this.pending.filter((parked) => parked.id !== id);
  }

  /** Ends this incarnation: nothing that it awaits will ever come. */
  end(state: 'killed' | 'ended' | 'failed'): void {
    this.changed = true;
    this.state = state;
    this.pending = [];
    this.inFlight = [];
  }

  /** The part of a state's key that is this process's. */
  key(version: number): string {
    let key = `${this.incarnation}${this.state[0] ?? ''}${this.pid}.${this.seen}${this.view}`;
    for (const parked of this.pending) {
      key += `,${parked.id}${parked.blockedAt === version ? 'b' : ''}`;
      // The instant at which it wakes is a function of when it lay down, which the process need not have looked at.
      if (parked.wakeMs !== undefined) key += `@${parked.wakeMs}`;
    }
    for (const { parked } of this.inFlight) key += `f${parked.id}`;
    return key;
  }

  /** What it does next, as far as its own memory decides that. */
  get goesOnWith(): string {
    if (!this.alive) return `${this.state} ${asText(this.state === 'failed' ? this.error : this.result)}`;
    const points = [...this.pending, ...this.inFlight.map(({ parked }) => parked)].sort((a, b) => a.id - b.id);
    return points.map(({ kind, label, params }) => `${kind} ${label} ${asText(params)}`).join(' | ');
  }
}
