import type { Operation } from './view.js';

/** An operation of the history, still open to be completed. */
export interface OpenOperation {
  readonly client: string;
  readonly input: unknown;
  call: number;
  ret: number;
  lastStep: number;
  output?: unknown;
}

/**
 * The operations of one schedule.
 *
 * An operation is taken to last from its first to its last statement, not from its call: nothing of it can happen
 * outside that time, and the tighter it is the more the linearizability check can refute.
 */
export class Operations {
  private readonly all: OpenOperation[] = [];

  /** Opens an operation. */
  begin(client: string, input: unknown): OpenOperation {
    const operation: OpenOperation = {
      client,
      input,
      call: Number.POSITIVE_INFINITY,
      ret: Number.POSITIVE_INFINITY,
      lastStep: -1,
    };
    this.all.push(operation);
    return operation;
  }

  /** Notes that one of its statements was taken. */
  touch(operation: OpenOperation, step: number): void {
    if (operation.call === Number.POSITIVE_INFINITY) operation.call = step;
    operation.lastStep = step;
  }

  /** Closes an operation with what it answered. */
  settle(operation: OpenOperation, output: unknown, step: number): void {
    if (operation.lastStep < 0) this.touch(operation, step);
    operation.ret = operation.lastStep;
    operation.output = output === undefined ? null : output;
  }

  /** The operations that have begun, in order of their first statement. */
  history(): readonly Operation[] {
    return this.all
      .filter((each) => each.call !== Number.POSITIVE_INFINITY)
      .sort((a, b) => a.call - b.call)
      .map(({ lastStep: _, ...operation }) => operation);
  }

  /** The order of all beginnings and ends, and every answer: two histories with one key are judged alike. */
  key(text: (value: unknown) => string): string {
    if (this.all.length === 0) return '';
    const events = this.all.flatMap((each, at) => [
      { step: each.call, what: `c${at}${each.client}${text(each.input)}` },
      { step: each.lastStep, what: `r${at}${text(each.output)}` },
    ]);
    return events
      .sort((a, b) => a.step - b.step || a.what.localeCompare(b.what))
      .map((event) => event.what)
      .join();
  }
}
