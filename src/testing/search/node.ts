import type { Choice } from '../world/choice.js';
import type { Footprint } from '../world/footprint.js';

/** A choice that need not be tried here: what it leads to was reached by another order. */
export type Asleep = ReadonlyMap<string, Footprint>;

/** One place in the tree of schedules, on the path that is being explored. */
export interface Node {
  /** Its choices, by what they are and not by where they stand. */
  readonly ids: readonly string[];
  /** Which of them are processes going on, and whose. */
  readonly steps: readonly (number | undefined)[];
  /** What each tried choice has touched. */
  readonly footprints: Map<string, Footprint>;
  readonly asleep: Asleep;
  /** The state was met before; only these were left out then. */
  readonly only: ReadonlySet<string> | undefined;
  /** The process that went on last, and how often it was preempted so far. */
  readonly last: number;
  readonly preempted: number;
  /** What all processes had seen on arrival: a second arrival must have seen the same. */
  readonly seen: string;
  /** The place of the choice that is being explored. */
  at: number;
}

/** Makes a node of the choices of one moment. */
export function nodeOf(choices: readonly Choice[], rest: Omit<Node, 'ids' | 'steps' | 'footprints' | 'at'>): Node {
  return {
    ...rest,
    ids: choices.map((choice) => choice.id),
    steps: choices.map((choice) => (choice.kind === 'step' ? choice.by.index : undefined)),
    footprints: new Map(),
    at: -1,
  };
}

/** Moves a node on to its next choice that is worth trying; false if there is none. */
export function moveOn(node: Node, preemptions: number | undefined): boolean {
  for (node.at++; node.at < node.ids.length; node.at++) if (isWorthTrying(node, node.at, preemptions)) return true;
  return false;
}

/** Whether a choice was neither covered by another order, nor by another visit, nor is one preemption too many. */
export function isWorthTrying(node: Node, at: number, preemptions: number | undefined): boolean {
  const id = node.ids[at] ?? '';
  if (node.asleep.has(id) || node.only?.has(id) === false) return false;
  return preemptions === undefined || node.preempted < preemptions || !preempts(node, at);
}

/** Whether a choice switches away from a process that could go on. */
export function preempts(node: Node, at: number): boolean {
  const by = node.steps[at];
  return by !== undefined && by !== node.last && node.steps.includes(node.last);
}

/** Whether the bound on preemptions leaves a choice of this node out. */
export const exceeds = (node: Node, preemptions: number): boolean =>
  node.preempted >= preemptions && node.ids.some((_, at) => preempts(node, at));
