import type { Choice } from '../world/choice.js';
import { moveOf, moverOf } from '../world/move.js';

/** How many new steps may stand between two that are known: a few statements, not another program. */
const maxNew = 24;

/** Follows a list of moves by what they are: what is new is passed over, what is gone makes it unfit. */
export class Follower {
  /** Every move was found so far. */
  fits = true;
  private readonly moves: readonly string[];
  private at = 0;
  private passed = 0;

  constructor(moves: readonly string[]) {
    this.moves = moves;
  }

  /** The moves that are still to be made. */
  get left(): readonly string[] {
    return this.moves.slice(this.at);
  }

  /** All moves were made. */
  get isThrough(): boolean {
    return this.at === this.moves.length;
  }

  /** The place of the choice to take; the first one once the moves are used up: carry on. */
  pick(choices: readonly Choice[], nowMs: number): number {
    const wanted = this.moves[this.at];
    if (wanted === undefined) return 0;
    const found = choices.findIndex((choice) => moveOf(choice, nowMs) === wanted);
    if (found >= 0) {
      this.at++;
      this.passed = 0;
      return found;
    }
    const on = this.passed++ < maxNew ? towards(wanted, choices) : -1;
    if (on >= 0) return on;
    this.fits = false;
    this.at = this.moves.length;
    return 0;
  }
}

/** A step of whoever is to make the wanted move; of anybody, where it is the clock or all others sleep. */
function towards(wanted: string, choices: readonly Choice[]): number {
  const who = wanted[0] ?? '';
  return choices.findIndex(
    (choice) =>
      choice.kind === 'advance' || (choice.kind === 'step' && (who === '-' || moverOf(choice.by.index) === who)),
  );
}
