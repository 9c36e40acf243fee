import { escaped } from './escaped.js';
import type { Beat, Lane, Story } from './story.js';

const laneWidth = 240;
const left = 92;
const lineHeight = 17;
const headHeight = 58;
const changesWidth = 420;

interface Placed {
  readonly beat: Beat;
  readonly top: number;
  readonly height: number;
}

interface Sheet {
  readonly story: Story;
  readonly placed: readonly Placed[];
  /** Where the database stands: right of all lanes. */
  readonly database: number;
  readonly width: number;
  readonly height: number;
}

/** The space-time diagram: lanes side by side, the database right of them, time downwards. */
export function svgDiagram(story: Story): string {
  const sheet = layOut(story);
  const parts = [
    ...story.lanes.map((lane, at) => laneMarks(lane, { at, sheet })),
    line({ x1: sheet.database, y1: headHeight, x2: sheet.database, y2: sheet.height - 40 }, 'lane'),
    text('database', { x: sheet.database, y: 24, anchor: 'middle' }, 'head'),
    text('what the step did to its rows', { x: sheet.database + 18, y: 44 }, 'soft'),
    ...sheet.placed.map((each, at) => beatMarks(each, { sheet, wrong: at === sheet.placed.length - 1 })),
    text(`✗ ${story.violated}`, { x: left, y: sheet.height - 14 }, 'bad'),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${sheet.width} ${sheet.height}" role="img" aria-label="${escaped(story.violated)}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>
${parts.join('\n')}
</svg>`;
}

function layOut(story: Story): Sheet {
  const placed: Placed[] = [];
  let top = headHeight + 8;
  for (const beat of story.beats) {
    const height = Math.max(2, said(beat).length, beat.changes.flatMap(changeLines).length) * lineHeight + 16;
    placed.push({ beat, top, height });
    top += height;
  }
  const database = left + story.lanes.length * laneWidth + 24;
  return { story, placed, database, width: database + changesWidth, height: top + 44 };
}

const laneX = (at: number) => left + at * laneWidth + 10;

function laneMarks(
  { name, incarnation, pid }: Lane,
  { at, sheet }: { readonly at: number; readonly sheet: Sheet },
): string {
  const x = laneX(at);
  const mine = sheet.placed.filter(({ beat }) => beat.lane === at);
  const first = mine.at(0);
  const last = mine.at(-1);
  const from = first === undefined ? headHeight : first.top + 14;
  const over = last !== undefined && (last.beat.kind === 'kill' || last.beat.point === 'exit');
  const to = over ? last.top + 14 : sheet.height - 40;
  return [
    text(name + (incarnation > 1 ? `, restarted` : ''), { x: x - 6, y: 24 }, 'head'),
    text(`pid ${pid}`, { x: x - 6, y: 44 }, 'soft'),
    line({ x1: x, y1: headHeight, x2: x, y2: sheet.height - 40 }, 'lane'),
    line({ x1: x, y1: from, x2: x, y2: to }, 'alive'),
  ].join('\n');
}

function beatMarks(
  { beat, top, height }: Placed,
  { sheet, wrong }: { readonly sheet: Sheet; readonly wrong: boolean },
): string {
  const y = top + 14;
  const inside = [
    `<title>${escaped(hover(beat))}</title>`,
    `<rect class="${wrong ? 'wrong' : 'hit'}" x="0" y="${top - 2}" width="${sheet.width}" height="${height}" rx="6"/>`,
    text(`${beat.number}`, { x: 24, y: y + 4, anchor: 'end' }, 'soft'),
    text(`${beat.afterMs} ms`, { x: left - 14, y: y + 4, anchor: 'end' }, 'soft'),
    ...(beat.lane < 0 ? worldMarks(beat, { y, sheet }) : processMarks(beat, { y, sheet, wrong })),
  ];
  return `<g class="row">${inside.join('\n')}</g>`;
}

function worldMarks(beat: Beat, { y, sheet }: { readonly y: number; readonly sheet: Sheet }): string[] {
  return [
    line({ x1: left - 6, y1: y + 12, x2: sheet.width - 12, y2: y + 12 }, 'clock'),
    text(beat.what, { x: left + 22, y: y + 4 }, 'warn'),
  ];
}

function processMarks(
  beat: Beat,
  at: { readonly y: number; readonly sheet: Sheet; readonly wrong: boolean },
): string[] {
  const { y, sheet, wrong } = at;
  const x = laneX(beat.lane);
  const marks = said(beat).map((words, row) =>
    text(words, { x: x + 14, y: y + 4 + row * lineHeight }, wrong ? 'mono bad' : row === 0 ? 'mono' : 'mono soft'),
  );
  const lines = beat.changes.flatMap(changeLines);
  marks.push(
    ...lines.map(({ words, kind }, row) =>
      text(words, { x: sheet.database + 18, y: y + 4 + row * lineHeight }, `mono ${kind}`),
    ),
  );
  if (beat.kind === 'kill') return [...marks, cross(x, y)];
  const dot = `<circle class="dot" cx="${x}" cy="${y}" r="5"/>`;
  return beat.point === 'sql' ? [...arrows(beat, { x, y, sheet }), dot, ...marks] : [dot, ...marks];
}

/** The statement's way to the database and the answer's way back, under the words. */
function arrows(
  beat: Beat,
  { x, y, sheet }: { readonly x: number; readonly y: number; readonly sheet: Sheet },
): string[] {
  const down = y + said(beat).length * lineHeight - 6;
  const refused = beat.refused ? ' refused' : '';
  const asked =
    beat.kind === 'failure'
      ? []
      : [
          line({ x1: x, y1: y, x2: x, y2: down }, `arrow${refused}`),
          line({ x1: x, y1: down, x2: sheet.database - 6, y2: down }, `arrow${refused}`, true),
        ];
  return beat.kind === 'lost-reply'
    ? [...asked, text('answer lost', { x: sheet.database - 84, y: down - 5 }, 'warn')]
    : asked;
}

const cross = (x: number, y: number) =>
  line({ x1: x - 7, y1: y - 7, x2: x + 7, y2: y + 7 }, 'dead') +
  line({ x1: x - 7, y1: y + 7, x2: x + 7, y2: y - 7 }, 'dead');

const hover = ({ what, answer }: Beat) => (answer === '' ? what : `${what}\n→ ${answer}`);

/** What is written beside a step: a statement in short, and what came back. */
function said(beat: Beat): string[] {
  const what =
    beat.point === 'sql' && beat.kind !== 'kill' && beat.kind !== 'restart' ? shortStatement(beat.what) : beat.what;
  const answer = beat.answer === '' ? [] : [clipped(`⇠ ${beat.answer}`)];
  return [clipped(what), ...answer];
}

/** The verb and the table: the rest is a hover away, and in the table below. */
function shortStatement(statement: string): string {
  const [, verb = '', table = ''] =
    /^\s*(\w+)(?:.*?\b(?:from|into|update|table)\s+|\s+)([\w.]+)/i.exec(statement) ?? [];
  return table === '' ? statement : `${verb.toUpperCase()} ${table}`;
}

interface ChangeLine {
  readonly words: string;
  readonly kind: string;
}

const signs = { added: '+', removed: '−', changed: '~' } as const;

function changeLines({ kind, table, text: words }: Beat['changes'][number]): ChangeLine[] {
  const rows = words.match(/.{1,48}(?:\s|$)|\S+/g) ?? [];
  const shown = rows.length > 4 ? [...rows.slice(0, 3), '…'] : rows;
  return [{ words: `${signs[kind]} ${table}`, kind }, ...shown.map((row) => ({ words: `  ${row.trim()}`, kind }))];
}

const clipped = (words: string) => (words.length > 31 ? `${words.slice(0, 30)}…` : words);

const line = (
  at: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number },
  kind: string,
  tip = false,
) =>
  `<line class="${kind}" x1="${at.x1}" y1="${at.y1}" x2="${at.x2}" y2="${at.y2}"${tip ? ' marker-end="url(#tip)"' : ''}/>`;

const text = (words: string, at: { readonly x: number; readonly y: number; readonly anchor?: string }, kind: string) =>
  `<text class="${kind}" x="${at.x}" y="${at.y}"${at.anchor === undefined ? '' : ` text-anchor="${at.anchor}"`} xml:space="preserve">${escaped(words)}</text>`;
