import type { Incarnation } from './incarnation.js';
import { OutlivingState } from './trouble.js';

/**
 * How every life went on after all that it had seen, over all schedules of a search.
 *
 * A process is a function of the answers that it was given. One that was given the same and goes on differently has
 * something else in memory: what another process left there, or an earlier life, or an earlier schedule.
 */
export class LifeMemory {
  private readonly went = new Map<string, string>();

  /** Throws if this life goes on in another way than one that had seen the same. */
  compare(each: Incarnation): void {
    if (!each.changed || each.state === 'killed') return;
    each.changed = false;
    const life = `${each.index}.${each.incarnation}.${each.pid}.${each.seen}`;
    const now = each.goesOnWith;
    const before = this.went.get(life);
    if (before === undefined) this.went.set(life, now);
    else if (before !== now) throw new OutlivingState(each.name, { now, before });
  }
}
