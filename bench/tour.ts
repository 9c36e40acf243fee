/** The tasks that a transition is timed on. */
export const TASKS = 1_000;

/** The two stages between which every task goes to and fro. */
export type Stage = 'staged' | 'deployed';

/** One move of one task. */
export interface Move {
  readonly taskId: number;
  readonly from: Stage;
  readonly to: Stage;
}

/** Goes round the tasks for ever, so that every stage write changes a row and none is the same as the last. */
export class Tour {
  #at = 0;

  next(): Move {
    const taskId = (this.#at % TASKS) + 1;
    const back = Math.floor(this.#at / TASKS) % 2 === 1;
    this.#at += 1;
    return back ? { taskId, from: 'deployed', to: 'staged' } : { taskId, from: 'staged', to: 'deployed' };
  }
}
