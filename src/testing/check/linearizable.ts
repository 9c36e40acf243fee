import type { Operation } from '../world/view.js';

/** An object as it behaves when no one disturbs: what a concurrent history is compared with. */
export interface SequentialModel<S, I = unknown, O = unknown> {
  /** The state before any operation. */
  init(): S;
  /** The state after an operation, or `null` if it cannot answer so. `undefined` is an unknown outcome: any will do. */
  step(state: S, input: I, output: O | undefined): S | null;
  /** A text that is equal for equal states. */
  key(state: S): string;
  /** Operations with different partitions do not touch each other, and are checked apart: the task, say. */
  partition?(input: I): string;
}

/** Whether a history is linearizable. */
export interface Linearizability {
  /** True if some order of the operations, true to their real times, is one that the model allows. */
  readonly ok: boolean;
  /** The longest such order that was found, as places in the history. */
  readonly longest: readonly number[];
  /** The partition that has no order. */
  readonly partition?: string;
}

/**
 * Looks for an order of the operations in which a sequential object could have answered just so (Wing & Gong, with
 * Lowe's memory of what was tried, partitioned as in Porcupine).
 *
 * Made for short histories, such as those of explored schedules: with many unknown outcomes the search explodes. For
 * long ones use `checkTokenOrder`.
 *
 * @example
 * ```ts
 * import { checkLinearizable, leaseModel } from 'transition-ownership/testing';
 *
 * const history = [
 *   { client: 'A', call: 1, ret: 2, input: { verb: 'acquire', taskId: 1, owner: 'A' }, output: { fencingToken: 1 } },
 *   { client: 'B', call: 3, ret: 4, input: { verb: 'acquire', taskId: 1, owner: 'B' }, output: null },
 * ] as const;
 * checkLinearizable(leaseModel, history).ok; // true
 * ```
 */
export function checkLinearizable<S, I, O>(
  model: SequentialModel<S, I, O>,
  history: readonly Operation<I, O>[],
): Linearizability {
  const parts = new Map<string, number[]>();
  for (const [at, { input }] of history.entries()) {
    const partition = model.partition?.(input) ?? '';
    parts.set(partition, [...(parts.get(partition) ?? []), at]);
  }
  let longest: readonly number[] = [];
  for (const [partition, places] of parts) {
    const found = new Search(model, history, places).run();
    if (!found.ok) return { ...found, ...(model.partition === undefined ? {} : { partition }) };
    longest = [...longest, ...found.longest];
  }
  return { ok: true, longest };
}

class Search<S, I, O> {
  private readonly model: SequentialModel<S, I, O>;
  private readonly history: readonly Operation<I, O>[];
  private readonly left: Set<number>;
  private readonly tried = new Set<string>();
  private readonly order: number[] = [];
  private longest: readonly number[] = [];

  constructor(model: SequentialModel<S, I, O>, history: readonly Operation<I, O>[], places: readonly number[]) {
    this.model = model;
    this.history = history;
    this.left = new Set([...places].sort((a, b) => this.at(a).call - this.at(b).call));
  }

  run(): Linearizability {
    const ok = this.extend(this.model.init());
    return { ok, longest: ok ? [...this.order] : this.longest };
  }

  private at(place: number): Operation<I, O> {
    const operation = this.history[place];
    if (operation === undefined) throw new RangeError(`Broken invariant: no operation ${place}`);
    return operation;
  }

  /** Tries every operation that may come next: any that was asked before the first answer still to come. */
  private extend(state: S): boolean {
    const answered = [...this.left].filter((place) => this.at(place).output !== undefined);
    // What never answered may also never have taken place.
    if (answered.length === 0) return true;
    const firstAnswer = Math.min(...answered.map((place) => this.at(place).ret));
    for (const place of [...this.left]) {
      const { call, input, output } = this.at(place);
      if (call > firstAnswer) continue;
      const next = this.model.step(state, input, output);
      if (next !== null && this.follow(place, next)) return true;
    }
    return false;
  }

  private follow(place: number, state: S): boolean {
    this.left.delete(place);
    const mark = `${[...this.left].sort((a, b) => a - b).join()}|${this.model.key(state)}`;
    if (!this.tried.has(mark)) {
      this.tried.add(mark);
      this.order.push(place);
      if (this.order.length > this.longest.length) this.longest = [...this.order];
      if (this.extend(state)) return true;
      this.order.pop();
    }
    this.left.add(place);
    return false;
  }
}
