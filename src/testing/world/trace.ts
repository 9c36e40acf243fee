import type { Snapshot } from '../store/store.js';
import type { Choice } from './choice.js';
import { asText } from './interner.js';

/** One step of a schedule, as it is shown. */
export interface Step {
  /** The process it belongs to; empty for the clock and the disk. */
  readonly process: string;
  readonly incarnation: number;
  readonly pid: number;
  readonly kind: Choice['kind'];
  /** What kind of point was taken, for steps of processes. */
  readonly point: string;
  /** The statement, or what the effect is called. */
  readonly label: string;
  readonly params: readonly unknown[];
  /** What came back, as text; `undefined` while it waits. */
  answer: string | undefined;
  /** Whether what came back was an error. */
  refused: boolean;
  /** Virtual time after the step, in milliseconds. */
  nowMs: number;
  /** What the tables looked like before and after, when the schedule is drawn. */
  tables?: { readonly before: Snapshot; readonly after: Snapshot };
}

const told: Readonly<Record<Choice['kind'], string>> = {
  step: '',
  'lost-reply': 'REPLY LOST ',
  failure: 'FAILS ',
  kill: 'KILL -9 ',
  restart: 'RESTART ',
  jump: 'clock jumps ',
  'database-jump': 'clock of the database jumps ',
  advance: 'time passes ',
  'time-passes': 'time passes meanwhile ',
  'disk-full': 'the disk is full',
  'disk-healed': 'the disk has room again',
};

/** One step as one line. */
export function lineOf(step: Step): string {
  const who = step.process === '' ? 'world' : `${step.process}.${step.incarnation}`;
  const params = step.params.length > 0 ? ` ${asText(step.params)}` : '';
  const answer = step.answer === undefined || step.answer === 'undefined' ? '' : ` => ${step.answer}`;
  return `${who}: ${told[step.kind]}${step.label.replace(/\s+/g, ' ')}${params}${answer}`;
}
