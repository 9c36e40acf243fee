import { styleText } from 'node:util';

/** One cell of a table, or one word of a line, with its colour. */
export interface Styled {
  readonly text: string;
  readonly style?: Style;
}

type Style = 'red' | 'yellow' | 'green' | 'dim' | 'bold';

/** Gives text a colour; none where standard output is no terminal, or NO_COLOR is set. */
export const styled = (text: string, style: Style): Styled => ({ text, style });

/** What can be put into a cell. */
export type Cell = Styled | string | number | bigint | null | undefined;

/** Lays rows out in columns under their heads. */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const all = [heads.map((head) => styled(head, 'bold')), ...rows.map((row) => row.map(toStyled))];
  const widths = heads.map((_, at) => Math.max(...all.map((row) => row[at]?.text.length ?? 0)));
  return all
    .map((row) => row.map((cell, at) => painted({ ...cell, text: cell.text.padEnd(widths[at] ?? 0) })).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

function toStyled(cell: Cell): Styled {
  if (typeof cell === 'object' && cell !== null) return { ...cell, text: printable(cell.text) };
  return { text: cell === null || cell === undefined ? '-' : printable(String(cell)) };
}

/** Text with its colour, if there are colours. */
export function painted({ text, style }: Styled): string {
  return style === undefined ? text : styleText(style, text, { stream: process.stdout });
}

/** Text as a terminal may have it: what steers a terminal, and came from a row, is spelled out. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Ids in one line. */
export const listed = (ids: readonly unknown[]): string => printable(ids.join(', '));

/** A duration in its two greatest units. */
export function duration(ms: number | null): string {
  if (ms === null) return '?';
  const seconds = Math.floor(Math.abs(ms) / 1_000);
  const parts = UNITS.map(([unit, length, upTo]) => [Math.floor(seconds / length) % upTo, unit] as const);
  const first = parts.findIndex(([count]) => count > 0);
  const told =
    first === -1
      ? '0s'
      : parts
          .slice(first, first + 2)
          .map(([count, unit]) => `${count}${unit}`)
          .join(' ');
  return ms < 0 && told !== '0s' ? `-${told}` : told;
}

const UNITS = [
  ['d', 86_400, Number.POSITIVE_INFINITY],
  ['h', 3_600, 24],
  ['m', 60, 60],
  ['s', 1, 60],
] as const;

/** A count with its noun. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The process of an owner, for people: of the scope of its pid only the name of the host. */
export function owner({ pid, host }: { readonly pid: number | null; readonly host: string | null }): string {
  const name = host === null || host.startsWith('unprovable/') ? '?' : host.slice(host.lastIndexOf('/') + 1);
  return `${pid ?? '?'}@${name}`;
}

/** A time as the driver read it. */
export function instant(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '?').replaceAll('"', '');
}

/** The lines that there are. */
export const textOf = (lines: readonly (string | false)[]): string => lines.filter((line) => line !== false).join('\n');
