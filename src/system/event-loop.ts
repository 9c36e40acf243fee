import type { Clock } from '../port/clock.js';

/** How long the library may keep the event loop to itself, in ms. */
const MAX_TURN_MS = 5;

/**
 * The turns of the event loop as the library takes them.
 *
 * SQLite answers without one: a loop that awaits nothing but the library would run for ever on microtasks, and no
 * timer, no renewal among them, would ever come. A clock without `turn` is virtual time, in which nothing starves.
 */
export class EventLoop {
  readonly #clock: Clock;
  #turn: Promise<void> | undefined;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called before each piece of work: a turn to wait for, if the library has kept the event loop for long enough. */
  due(): Promise<void> | undefined {
    if (this.#clock.turn === undefined) return undefined;
    if (this.#turn === undefined) {
      this.#sinceMs = this.#clock.monotonicMs();
      this.#turn = this.#clock.turn().then(() => {
        this.#turn = undefined;
      });
      return undefined;
    }
    return this.#clock.monotonicMs() - this.#sinceMs < MAX_TURN_MS ? undefined : this.#turn;
  }

  /** The end of the present turn; `undefined` in virtual time. Asked for after {@link EventLoop.due}. */
  get turn(): Promise<void> | undefined {
    return this.#turn;
  }
}

const loops = new WeakMap<Clock, EventLoop>();

/** The event loop as a clock has it: one for all that the library does by that clock. */
export function eventLoopOf(clock: Clock): EventLoop {
  let loop = loops.get(clock);
  if (loop === undefined) {
    loop = new EventLoop(clock);
    loops.set(clock, loop);
  }
  return loop;
}
