import { follow } from './followers.js';

/** The signal of a lease: made when it is first asked for, fired once. */
export class LeaseSignal {
  #controller: AbortController | undefined;
  #firedWith: { readonly reason: unknown } | undefined;
  #unfollow: (() => void) | undefined;
  #asked: ((signal: LeaseSignal) => void) | undefined;

  /** `asked` is called when it is first asked for, unless the lease has ended. */
  constructor(asked?: (signal: LeaseSignal) => void) {
    this.#asked = asked;
  }

  /** Fires it. */
  abort(reason: unknown): void {
    this.#firedWith ??= { reason };
    this.#controller?.abort(this.#firedWith.reason);
  }

  /** Fires it when the caller's own does, also if that has happened. */
  follow(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    if (signal.aborted) this.abort(signal.reason);
    else this.#unfollow = follow(signal, () => this.abort(signal.reason));
  }

  /** The lease has ended: the caller's own signal is followed no more. */
  unfollow(): void {
    this.#asked = undefined;
    this.#unfollow?.();
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    this.#asked?.(this);
    this.#asked = undefined;
    if (this.#firedWith !== undefined) this.#controller.abort(this.#firedWith.reason);
    return this.#controller.signal;
  }
}
