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

const COLUMNS = ['what', 'time of one', 'figure', 'bar', ''] as const;

/** Prints one table. */
export function printTable(title: string, lines: readonly Line[]): void {
  const cells = lines.map(({ what, us, figure, bar, met }) => [
    what,
    us === undefined ? '' : spellUs(us),
    figure,
    bar ?? '',
    met === undefined ? '' : met ? 'within' : 'BEYOND',
  ]);
  const rows: readonly (readonly string[])[] = [COLUMNS, ...cells];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  console.log(`\n${title}\n`);
  for (const row of rows)
    console.log(`  ${row.map((cell, at) => pad(cell, widths[at] ?? 0, at)).join('  ')}`.trimEnd());
}

/** Times and figures stand to the right, words to the left. */
function pad(cell: string, width: number, column: number): string {
  return column === 1 || column === 2 ? cell.padStart(width) : cell.padEnd(width);
}

function spellUs(us: number): string {
  if (us < 100) return `${us.toFixed(1)} µs`;
  return us < 10_000 ? `${us.toFixed(0)} µs` : `${(us / 1_000).toFixed(1)} ms`;
}
