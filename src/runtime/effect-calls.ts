import { AsyncLocalStorage } from 'node:async_hooks';
import type { EffectFailed, EffectUnknown } from '../core/failure.js';
import type { ProcessIdentity } from '../core/process.js';

/** What this process knows of a start of its own once the call that made it has ended. */
export type KnownStart =
  /** No more than the journal says; `failure` is for those who waited. */
  | { readonly is: 'written'; readonly failure?: EffectFailed | EffectUnknown }
  /** Applied with this result, which the journal could not be told. */
  | { readonly is: 'applied'; readonly result: string }
  /** Never applied, which the journal could not be told. */
  | { readonly is: 'not-applied' };

/** How a call ended: what it answers, and what is known of its start. */
export interface EndedCall<T> {
  readonly known: KnownStart;
  readonly answer: T;
}

const WRITTEN: KnownStart = Object.freeze({ is: 'written' });

/**
 * The starts of effects that this process has under way, by their claims; and those that ended with something
 * that the journal could not be told, so that the next call tells it instead of guessing.
 */
export class EffectCalls {
  readonly #starts = new Map<string, Promise<KnownStart>>();
  /** The starts in whose `apply` the code that asks runs, the outermost first. */
  readonly #inside = new AsyncLocalStorage<readonly string[]>();

  /** Runs a call whose start has this claim, entered before the call sends its first statement. */
  async run<T>(claim: string, call: () => Promise<EndedCall<T>>): Promise<T> {
    let settle: (known: KnownStart) => void = ignore;
    this.#starts.set(
      claim,
      new Promise((resolve) => {
        settle = resolve;
      }),
    );
    let known = WRITTEN;
    try {
      const ended = await this.#inside.run([...(this.#inside.getStore() ?? []), claim], call);
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
    return this.#inside.getStore()?.includes(claim) ?? false;
  }

  /** Forgets a start: the journal was told. */
  forget(claim: string): void {
    this.#starts.delete(claim);
  }
}

function ignore(): void {}

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
