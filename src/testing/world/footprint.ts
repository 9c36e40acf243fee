import type { Point } from './view.js';

/**
 * What one step has touched beyond its own process: noted while it ran, and used to tell which steps commute.
 *
 * Two steps of different processes that touch nothing in common lead to the same state in either order, so only one
 * order need be explored.
 */
export interface Footprint {
  /** The process that took the step. */
  readonly process: string;
  /** The statement that ran, if one did. */
  point: Point | undefined;
  /** What it did to the database. */
  sql: 'none' | 'read' | 'write';
  /** Ran an effect: effects share the world outside. */
  effect: boolean;
  /** Noted facts, whose order invariants see. */
  facts: boolean;
  /** Was part of an operation, whose order the history shows. */
  operation: boolean;
  /** Looked a pid up. */
  sight: boolean;
  /** Began or ended a process: what a pid look-up sees. */
  lives: boolean;
  /** The budget it was paid from. */
  budget: string | undefined;
  /** Touched everything: time, the disk, or a statement of another process that came free. */
  everything: boolean;
}

/** The footprint of a step that has touched nothing yet. */
export function emptyFootprint(process: string): Footprint {
  return {
    process,
    point: undefined,
    sql: 'none',
    effect: false,
    facts: false,
    operation: false,
    sight: false,
    lives: false,
    budget: undefined,
    everything: false,
  };
}

/** Whether two steps lead to the same state in either order. */
export function commute(a: Footprint, b: Footprint, independent?: (a: Point, b: Point) => boolean): boolean {
  if (a.process === b.process || a.everything || b.everything) return false;
  if (a.budget !== undefined && a.budget === b.budget) return false;
  if ((a.lives && b.sight) || (b.lives && a.sight)) return false;
  if ((a.facts && b.facts) || (a.operation && b.operation) || (a.effect && b.effect)) return false;
  if (a.sql === 'none' || b.sql === 'none') return true;
  if (independent !== undefined && a.point !== undefined && b.point !== undefined) return independent(a.point, b.point);
  return a.sql === 'read' && b.sql === 'read';
}
