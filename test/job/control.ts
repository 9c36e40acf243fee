import { describe, expect, test } from 'vitest';
import type { Proofs } from './proofs.js';
import { type JobStore, sqliteStore } from './stores.js';
import { openYard } from './yard.js';

/** A guard that is taken out of the statements that it is in, and the proof that fails without it. */
export interface Control {
  readonly store?: JobStore;
  /** Which statements. */
  readonly of: RegExp;
  readonly without: string | RegExp;
  readonly becomes?: string;
  readonly proofs: Proofs;
  readonly title: string;
}

/** Without its guard a walk may never come to its end. */
const MAX_STATEMENTS = 2_000;

/** Shows of each guard that its proof fails without it. */
export function proveControls(controls: Readonly<Record<string, Control>>): void {
  describe.each(Object.entries(controls))('without it: %s', (_name, control) => {
    const { store = sqliteStore, of, without, becomes = '', proofs, title } = control;
    test.skipIf(store.missing !== undefined)(`fails "${title}"`, async () => {
      let removed = 0;
      let statements = 0;
      const mutate = (text: string): string => {
        statements += 1;
        if (statements > MAX_STATEMENTS) throw new Error('it would go on for ever');
        const mutant = of.test(text) ? text.replace(without, becomes) : text;
        if (mutant !== text) removed += 1;
        return mutant;
      };
      await using yard = await openYard(store, { suite: 'controls', mutate });
      const proof = proofs[title];
      if (proof === undefined) throw new Error(`there is no proof "${title}"`);
      await expect(proof(yard)).rejects.toThrow();
      expect(removed).toBeGreaterThan(0);
    });
  });
}
