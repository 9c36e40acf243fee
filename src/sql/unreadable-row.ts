import { inspectValue } from '../core/inspect-value.js';

/** A row that no writer of this library ever wrote, or that the caller's table must not have. */
export class UnreadableRow extends Error {
  constructor(column: string, value: unknown, wanted: string) {
    super(`Column ${column} must hold ${wanted}, and holds ${inspectValue(value)}`);
    this.name = 'UnreadableRow';
  }
}
