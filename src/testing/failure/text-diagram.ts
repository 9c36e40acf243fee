import { startMs } from '../world/start-ms.js';
import type { Change } from './changes.js';
import type { Beat, Lane, Story } from './story.js';

const totalWidth = 118;
const tablesWidth = 34;
const timeWidth = 11;

/** The whole message of a failure: the broken rule, how to read the picture, the picture, how to run it again. */
export function textDiagram(story: Story): string {
  if (story.beats.length === 0) return story.violated;
  const laneWidth = Math.max(20, Math.floor((totalWidth - timeWidth - tablesWidth) / story.lanes.length) - 3);
  const widths = [timeWidth, ...story.lanes.map(() => laneWidth), tablesWidth];
  const lines = [
    story.violated,
    '',
    `${story.beats.length} steps on ${story.store}. Time runs down, counted from ${startMs.toLocaleString('en')} ms on the virtual clock. Each column is`,
    'one start of a process; after → stands what came back. The last column shows what the step did to the rows.',
    '',
    row(['', ...story.lanes.map(laneTitle), 'rows'], widths),
    widths.map((width) => '─'.repeat(width)).join('─┼─'),
    ...story.beats.flatMap((beat) => beatLines(beat, { story, widths })),
    `${'✗'.padStart(4)} ${story.violated}`,
    '',
    'Run it again:',
    `  ${story.again}`,
  ];
  return lines.map((line) => line.trimEnd()).join('\n');
}

const laneTitle = ({ name, incarnation, pid }: Lane) =>
  `${name}${incarnation > 1 ? ` after restart ${incarnation - 1}` : ''} (pid ${pid})`;

function beatLines(
  beat: Beat,
  { story, widths }: { readonly story: Story; readonly widths: readonly number[] },
): string[] {
  const time = `${String(beat.number).padStart(3)} ${`${beat.afterMs} ms`.padStart(timeWidth - 4)}`;
  const changes = beat.changes.flatMap((change) => wrap(changeText(change), tablesWidth));
  if (beat.lane < 0) {
    const across = widths.slice(1, -1).reduce((sum, width) => sum + width + 3, -3);
    return [row([time, `~~~~ ${beat.what} ~~~~`], [timeWidth, across])];
  }
  const laneWidth = widths[beat.lane + 1] ?? 20;
  const said = [...wrap(marked(beat), laneWidth), ...(beat.answer === '' ? [] : wrap(`→ ${beat.answer}`, laneWidth))];
  const height = Math.max(said.length, changes.length);
  return Array.from({ length: height }, (_, at) =>
    row(
      [
        at === 0 ? time : '',
        ...story.lanes.map((_lane, lane) => (lane === beat.lane ? (said[at] ?? '') : '')),
        changes[at] ?? '',
      ],
      widths,
    ),
  );
}

const marks: Partial<Record<Beat['kind'], string>> = {
  kill: '✖ ',
  restart: '↻ ',
  failure: '⚡ refused: ',
  'lost-reply': '⚡ ',
};

const marked = (beat: Beat) => (marks[beat.kind] ?? '') + beat.what;

const signs: Readonly<Record<Change['kind'], string>> = { added: '+', removed: '−', changed: '~' };

const changeText = ({ kind, table, text }: Change) => `${signs[kind]} ${table}: ${text}`;

const row = (cells: readonly string[], widths: readonly number[]) =>
  cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' │ ');

/** Breaks text between words; at most seven lines, for the whole statement stands in the trace. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((each) => pieces(each, width - 2))) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.length <= 7 ? lines : [...lines.slice(0, 6), '  …'];
}

function pieces(word: string, width: number): string[] {
  const parts: string[] = [];
  for (let from = 0; from < word.length; from += width) parts.push(word.slice(from, from + width));
  return parts;
}
