import type { TestStore } from '../store/store.js';
import { recoverAndCheck } from '../world/recovery.js';
import type { Scenario } from '../world/scenario.js';
import { Simulation } from '../world/simulation.js';
import { isFinding, kindOf } from './finding.js';

/** A schedule that fails, by what was chosen and how it failed. */
export interface Failing {
  readonly picks: readonly number[];
  readonly kind: string;
}

interface Shrunk {
  readonly ids: readonly string[];
  readonly picks: readonly number[];
  /** Fewest steps first; then fewest switches, for they are what a reader has to follow. */
  readonly weight: readonly [steps: number, switches: number];
}

/**
 * Looks for a shorter schedule that fails in the same way.
 *
 * A schedule is taken as the list of what was chosen. Pieces are left out, large ones first; what cannot happen any
 * more is passed over, and when the list is used up whoever went last carries on. Then steps of one process are
 * brought together. Ends when nothing helps any more.
 */
export async function shrink<DB>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  failing: Failing,
): Promise<readonly number[]> {
  const attempt = (ids: readonly string[]) => follow(store, scenario, ids, failing.kind);
  let best = await attempt(await idsOf(store, scenario, failing.picks));
  if (best === undefined) return failing.picks;
  for (let improved = true, rounds = 0; improved && rounds < 40; rounds++) {
    improved = false;
    for (const ids of candidates(best.ids)) {
      const shorter: Shrunk | undefined = await attempt(ids);
      if (shorter === undefined || !isLighter(shorter, best)) continue;
      best = shorter;
      improved = true;
      break;
    }
  }
  return best.picks;
}

const isLighter = (a: Shrunk, b: Shrunk) =>
  a.weight[0] < b.weight[0] || (a.weight[0] === b.weight[0] && a.weight[1] < b.weight[1]);

/** Lists with a piece left out, large pieces first, then lists with one step moved next to another of its process. */
function* candidates(ids: readonly string[]): Iterable<readonly string[]> {
  for (let size = Math.ceil(ids.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = ids.length - size; from >= 0; from -= size)
      yield [...ids.slice(0, from), ...ids.slice(from + size)];
  }
  for (let at = 1; at < ids.length; at++) {
    for (let to = at - 1; to >= Math.max(0, at - 6); to--) {
      const id = ids[at];
      if (id !== undefined) yield [...ids.slice(0, to), id, ...ids.slice(to, at), ...ids.slice(at + 1)];
    }
  }
}

async function idsOf<DB>(store: TestStore<DB>, scenario: Scenario<DB>, picks: readonly number[]): Promise<string[]> {
  const ids: string[] = [];
  const world = new Simulation(store, scenario);
  try {
    await world.run((choices) => {
      const pick = picks[ids.length] ?? 0;
      ids.push(choices[pick]?.id ?? '');
      return pick;
    });
  } catch (error) {
    if (!isFinding(error)) throw error;
  } finally {
    await world.leave();
  }
  return ids;
}

async function follow<DB>(
  store: TestStore<DB>,
  scenario: Scenario<DB>,
  ids: readonly string[],
  kind: string,
): Promise<Shrunk | undefined> {
  const world = new Simulation(store, scenario);
  const taken: string[] = [];
  let switches = 0;
  let next = 0;
  try {
    const end = await world.run((choices) => {
      let at = -1;
      while (at < 0 && next < ids.length) {
        const wanted = ids[next++];
        at = choices.findIndex((choice) => choice.id === wanted);
      }
      if (at < 0) at = 0;
      const choice = choices[at];
      if (choice?.kind === 'step' && choice.by.index !== world.state.last) switches++;
      taken.push(choice?.id ?? '');
      return at;
    });
    if (end === 'end') await recoverAndCheck(world);
    return undefined;
  } catch (error) {
    if (!isFinding(error)) throw error;
    return kindOf(error) === kind
      ? { ids: taken, picks: [...world.taken], weight: [world.state.steps, switches] }
      : undefined;
  } finally {
    await world.leave();
  }
}
