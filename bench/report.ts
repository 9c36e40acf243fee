import type { Lap } from './race.js';

/** One line of a table. */
export interface Line {
  readonly what: string;
  /** The time of one, where it was timed. */
  readonly us?: number;
  /** What is compared with the bar, with its unit. */
  readonly figure: string;
  readonly bar?: string;
  /** Whether the figure meets its bar. */
  readonly met?: boolean;
}

/** The most that a ratio may be. */
export const atMost = (ratio: number, bar: number): Pick<Line, 'bar' | 'met'> => ({
  bar: `≤ ${bar}`,
  met: ratio <= bar,
});

/** The least that a ratio may be. */
export const atLeast = (ratio: number, bar: number): Pick<Line, 'bar' | 'met'> => ({
  bar: `≥ ${bar}`,
  met: ratio >= bar,
});

/** A lap against its floor. */
export function lapLine({ name, us, ratio }: Lap, bar?: number): Line {
  return { what: name, us, figure: `${ratio.toFixed(2)} × floor`, ...(bar !== undefined && atMost(ratio, bar)) };
}

/** Prints one table of figures and bars. */
export function printTable(title: string, lines: readonly Line[]): void {
  const rows = lines.map(({ what, us, figure, bar, met }) => [
    what,
    us === undefined ? '' : spellUs(us),
    figure,
    bar ?? '',
    met === undefined ? '' : met ? 'within' : 'BEYOND',
  ]);
  printRows(title, ['what', 'time of one', 'figure', 'bar', ''], rows);
}

/** Prints rows under their heads: words to the left, the time and the figure to the right. */
export function printRows(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [heads, ...rows];
  const widths = heads.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const pad = (cell: string, at: number): string =>
    at === 1 || at === 2 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0);
  console.log(`\n${title}\n`);
  for (const row of all) console.log(`  ${row.map(pad).join('  ')}`.trimEnd());
}

/** A time, in the unit that reads best. */
export function spellUs(us: number): string {
  if (us < 100) return `${us.toFixed(1)} µs`;
  return us < 10_000 ? `${us.toFixed(0)} µs` : `${(us / 1_000).toFixed(1)} ms`;
}
