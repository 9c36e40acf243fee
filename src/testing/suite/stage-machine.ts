import { checkObject } from '../../core/check.js';
import { by, list, object, type Rule, requestOf, text } from '../../core/request.js';
import type { Ported, Process } from '../world/process.js';

/** One handler: does what its stage demands, and returns the next stage. */
export type StageHandler<S extends string, Outside, DB> = (
  process: Process<DB>,
  task: number,
  outside: { readonly [Name in keyof Outside]: Ported<Outside[Name]> },
) => Promise<S>;

/** The stages of a task, and the handlers that move it through them. */
export interface StageMachine<S extends string, Outside, DB> {
  /** Where a task begins. */
  readonly initial: S;
  /** Where it may end. */
  readonly final: readonly S[];
  /** A handler for each stage that is not final. */
  readonly handlers: Partial<Record<S, StageHandler<S, Outside, DB>>>;
}

/** A machine, or what makes one for each start of a process: what its handlers keep in memory then dies with the process. */
export type MachineOfLife<S extends string, Outside, DB> =
  | StageMachine<S, Outside, DB>
  | (() => StageMachine<S, Outside, DB>);

const rules = { initial: text, final: list(text), handlers: by(checkObject) } satisfies Readonly<
  Record<keyof StageMachine<string, object, never>, Rule<unknown>>
>;
const checkMachine = requestOf(rules, 'machine');

/** A machine, or a function; what that makes is looked at when it is made. */
export const machineRule: Rule<unknown> = (name) => {
  const check = object(rules)(name);
  return (value) => (typeof value === 'function' ? value : check(value));
};

/** The machine of one start. */
export function machineOf<S extends string, Outside, DB>(
  given: MachineOfLife<S, Outside, DB>,
): StageMachine<S, Outside, DB> {
  if (typeof given !== 'function') return given;
  const made = given();
  checkMachine(made);
  return made;
}
