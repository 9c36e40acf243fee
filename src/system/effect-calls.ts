import { AsyncLocalStorage } from 'node:async_hooks';
import type { EffectFailed, EffectUnknown } from '../core/failure.js';
import type { ProcessIdentity } from '../core/process.js';

/** What this process knows of a start of its own once the call that made it has ended. */
export type KnownStart =
  /** No more than the journal says; `failure` is for those who waited. */
  | { readonly is: 'written'; readonly failure?: EffectFailed | EffectUnknown }
  /** Applied with this result, which could not be written to the journal. */
  | { readonly is: 'applied'; readonly result: string }
  /** Never applied, which could not be written to the journal. */
  | { readonly is: 'not-applied' };

/** How a call ended: what it returns, and what is known of its start. */
export interface EndedCall<T> {
  readonly known: KnownStart;
  readonly answer: T;
}

const WRITTEN: KnownStart = Object.freeze({ is: 'written' });

/**
 * The starts of effects that this process has under way, by their claims; and those that ended with something
 * that the journal could not be written, so that the next call writes it instead of guessing.
 */
export class EffectCalls {
  readonly #starts = new Map<string, Promise<KnownStart>>();

  /** Runs a call whose start has this claim, entered before the call sends its first statement. */
  async run<T>(claim: string, call: () => Promise<EndedCall<T>>): Promise<T> {
    let settle: (known: KnownStart) => void = ignore;
    const start = new Promise<KnownStart>((resolve) => {
      settle = resolve;
    });
    this.#starts.set(claim, start);
    let known = WRITTEN;
    try {
      const ended = await runInside(start, call);
      known = ended.known;
      return ended.answer;
    } finally {
      if (known.is === 'written') this.forget(claim);
      settle(known);
    }
  }

  /** Waits for a start of this process; `undefined` for one of which the journal knows as much. */
  ended(claim: string): Promise<KnownStart> | undefined {
    return this.#starts.get(claim);
  }

  /** True if the code that asks runs inside the `apply` of that start: waiting for its end would have none. */
  waitsForItself(claim: string): boolean {
    const start = this.#starts.get(claim);
    return start !== undefined && (inside.getStore()?.includes(start) ?? false);
  }

  /** Forgets a start: the journal was written. */
  forget(claim: string): void {
    this.#starts.delete(claim);
  }
}

function ignore(): void {}

/**
 * The starts in whose calls the code that asks runs, the outermost first. One storage for all, and off while there
 * are none: up to Node 22 each that is on slows down every promise of the process.
 */
const inside = new AsyncLocalStorage<readonly Promise<KnownStart>[]>();
let running = 0;

async function runInside<T>(start: Promise<KnownStart>, call: () => Promise<T>): Promise<T> {
  running += 1;
  try {
    return await inside.run([...(inside.getStore() ?? []), start], call);
  } finally {
    running -= 1;
    if (running === 0) inside.disable();
  }
}

const calls = new WeakMap<ProcessIdentity, EffectCalls>();

/** The calls of a process, which all its ownership objects share. */
export function effectCallsOf(identity: ProcessIdentity): EffectCalls {
  let found = calls.get(identity);
  if (found === undefined) {
    found = new EffectCalls();
    calls.set(identity, found);
  }
  return found;
}
