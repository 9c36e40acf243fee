import type { Session } from './session.js';
import { ConnectionTaken } from './waiting.js';

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 250;
/** All pauses of one statement together, in ms: by time and not by count, for a try may end at once or take long. */
const MAX_PAUSES_MS = 2_000;
/** No try begins later than this after the first, in ms: on a server one may wait for a lock for a minute. */
const LAST_TRY_AFTER_MS = 10_000;

/** The pauses between the tries of one statement, or of one transaction: jittered, and bounded by time alone. */
export class Tries {
  readonly #session: Pick<Session, 'clock' | 'randomness'>;
  readonly #sinceMs: number;
  #pauseMs = FIRST_PAUSE_MS;
  #leftMs = MAX_PAUSES_MS;

  constructor(session: Pick<Session, 'clock' | 'randomness'>) {
    this.#session = session;
    this.#sinceMs = session.clock.monotonicMs();
  }

  /** Pauses before one more try; false at once where there is to be none. */
  async again(cause: unknown): Promise<boolean> {
    const { clock, randomness } = this.#session;
    // Who waited for the connection in vain has had its time.
    if (cause instanceof ConnectionTaken || this.#leftMs <= 0) return false;
    if (clock.monotonicMs() - this.#sinceMs >= LAST_TRY_AFTER_MS) return false;
    const ms = Math.min(Math.ceil(this.#pauseMs * (0.5 + randomness.fraction() / 2)), this.#leftMs);
    this.#leftMs -= ms;
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
    await clock.sleep(ms);
    return true;
  }
}
