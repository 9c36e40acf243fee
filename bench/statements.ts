import type { BenchOwnership } from './ownership.js';
import { transitions } from './ownership.js';
import type { Line } from './report.js';

/** Collects the statements that a Kysely sends. */
export class Transcript {
  readonly #texts: string[] = [];
  readonly onQuery = (text: string): void => void this.#texts.push(text);

  /** What the library sends for one transition, against what the floor was written to send. */
  async compare(ownership: BenchOwnership, written: readonly string[]): Promise<readonly Line[]> {
    this.#texts.length = 0;
    await transitions('', ownership).run(1);
    const same = this.#texts.map(bare).join(';\n') === written.map(bare).join(';\n');
    if (same) return [];
    console.warn(
      `the library sends\n${this.#texts.map(bare).join(';\n')}\nthe floor\n${written.map(bare).join(';\n')}`,
    );
    return [{ what: 'the statements of the floor are those of the library', figure: 'no', bar: 'yes', met: false }];
  }
}

/** A statement without the marks that nobody needs and every builder writes. */
function bare(text: string): string {
  return text
    .replaceAll(/["`]/g, '')
    .replaceAll(/\$\d+/g, '?')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\s*([(),])\s*/g, '$1')
    .trim();
}
