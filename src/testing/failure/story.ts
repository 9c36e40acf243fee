import { asText } from '../world/interner.js';
import { startMs } from '../world/start-ms.js';
import type { Step } from '../world/trace.js';
import { type Change, changesBetween } from './changes.js';

/** A failed schedule, made ready to be drawn. */
export interface Story {
  readonly violated: string;
  readonly token: string;
  /** The line that runs it again. */
  readonly again: string;
  readonly store: string;
  /** One lane for each start of a process that did something. */
  readonly lanes: readonly Lane[];
  readonly beats: readonly Beat[];
}

/** One start of one process. */
export interface Lane {
  readonly name: string;
  readonly incarnation: number;
  readonly pid: number;
}

/** One step, in words. */
export interface Beat {
  readonly number: number;
  /** Virtual time since the schedule began, in milliseconds. */
  readonly afterMs: number;
  /** The lane; -1 for the clock and the disk. */
  readonly lane: number;
  readonly kind: Step['kind'];
  readonly point: string;
  /** What was done, with values in place of parameters. */
  readonly what: string;
  /** What came back; empty where nothing is to be said. */
  readonly answer: string;
  readonly refused: boolean;
  readonly changes: readonly Change[];
}

/** Makes a story of a logged schedule. */
export function storyOf(told: {
  readonly violated: string;
  readonly token: string;
  readonly again: string;
  readonly store: string;
  readonly log: readonly Step[];
}): Story {
  const lanes: Lane[] = [];
  const acting = told.log.filter((step) => step.process !== '');
  for (const { process: name, incarnation, pid } of acting) {
    if (!lanes.some((lane) => lane.name === name && lane.incarnation === incarnation))
      lanes.push({ name, incarnation, pid });
  }
  lanes.sort((a, b) => a.name.localeCompare(b.name) || a.incarnation - b.incarnation);
  const laneOf = (step: Step) =>
    lanes.findIndex((lane) => lane.name === step.process && lane.incarnation === step.incarnation);
  const beats = told.log.map((step, at) => beatOf(step, { number: at + 1, lane: laneOf(step) }));
  return { violated: told.violated, token: told.token, again: told.again, store: told.store, lanes, beats };
}

function beatOf(step: Step, at: { readonly number: number; readonly lane: number }): Beat {
  return {
    ...at,
    afterMs: step.nowMs - startMs,
    kind: step.kind,
    point: step.point,
    what: whatOf(step),
    answer: answerOf(step),
    refused: step.refused,
    changes: step.tables === undefined ? [] : changesBetween(step.tables.before, step.tables.after),
  };
}

function whatOf(step: Step): string {
  switch (step.kind) {
    case 'kill':
      return `killed (kill -9)${step.label === '' ? '' : ` before: ${readable(step.label)}`}`;
    case 'restart':
      return `started again ${step.label}`;
    case 'jump':
      return `every clock jumps ${step.label}`;
    case 'database-jump':
      return `the clock of the database jumps ${step.label}`;
    case 'advance':
      return `${step.label} pass`;
    case 'disk-full':
      return 'the disk is full';
    case 'disk-healed':
      return 'the disk has room again';
    default:
      if (step.point === 'effect')
        return step.label + (step.params.length > 0 ? ` ${step.params.map(asText).join(', ')}` : '');
      return step.point === 'sql' ? withValues(step) : (pointWords[step.point] ?? readable(step.label));
  }
}

const pointWords: Readonly<Record<string, string>> = { start: 'starts', exit: 'ends' };

/** The statement as a person would write it: values for parameters, no quotes around names. */
function withValues({ label, params }: Step): string {
  let next = 0;
  const filled = label.replace(/\?|\$(\d+)/g, (_, number: string | undefined) => {
    const value = params[number === undefined ? next++ : Number(number) - 1];
    return typeof value === 'string' ? `'${value}'` : asText(value);
  });
  return readable(filled);
}

const readable = (text: string) => text.replace(/[`"]/g, '').replace(/\s+/g, ' ').trim();

interface Answered {
  readonly rows?: readonly unknown[];
  readonly numAffectedRows?: number;
}

function answerOf(step: Step): string {
  const { answer } = step;
  if (step.kind === 'lost-reply') return 'it was done, but the answer got lost';
  if (answer === undefined || answer === 'undefined') return '';
  if (step.refused || answer.startsWith('…')) return answer.replace(/^! /, '');
  if (step.point !== 'sql') return step.point === 'effect' ? answer : '';
  return rowsOf(JSON.parse(answer) as Answered | null);
}

/** What a Kysely result says, in words. */
function rowsOf(result: Answered | null): string {
  const rows = result?.rows ?? [];
  if (rows.length > 0)
    return rows
      .map((row) =>
        readable(asText(row))
          .replace(/^\{|\}$/g, '')
          .replaceAll(',', ', '),
      )
      .join(' | ');
  const changed = result?.numAffectedRows;
  if (changed === undefined) return result?.rows === undefined ? '' : 'no rows';
  return changed === 1 ? '1 row written' : changed === 0 ? 'no row written' : `${changed} rows written`;
}
