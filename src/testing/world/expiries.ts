import type { Snapshot } from '../store/store.js';

const expiryColumns = ['expires_ms', 'deadline_ms'] as const;

/** Every instant in the tables at which a lease ends, in milliseconds. */
export function expiriesIn(snapshot: Snapshot): number[] {
  const instants: number[] = [];
  for (const rows of Object.values(snapshot)) {
    for (const row of rows) {
      for (const column of expiryColumns) {
        const instant = row[column];
        if (instant !== null && instant !== undefined) instants.push(Number(instant));
      }
    }
  }
  return instants;
}
