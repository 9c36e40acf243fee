import {
  type ApplyInput,
  acquireLease,
  type EffectRequest,
  ensureSchema,
  type ProbeAnswer,
  type Shape,
} from 'transition-ownership';
import { ok } from '../rig/proofs.js';
import type { OwnershipOverrides, Rig, TestOwnership, TestProcess } from '../rig/rig.js';

/** The statements on the journal, told apart as they go over a wire. */
export const READ = /^select .* from "transition_effect" where "task_id" = \? and "effect"/s;
export const START = /^insert into "transition_effect" .*'started'/s;
export const TAKE_OVER = /^update "transition_effect" set "claim"/s;
export const FINISH = /^update "transition_effect" set "state" = 'applied'/s;
export const STRIKE = /^delete from "transition_effect"/s;
export const RENEW = /^update "transition_lease" set expires_ms/s;

/** The outside system, where an effect is a line that cannot be taken back. */
export class Outside {
  readonly applied: ApplyInput[] = [];
  probed = 0;

  /** Merges; answers where. */
  readonly merge = async (input: ApplyInput) => {
    this.applied.push(input);
    return { sha: `merged-${this.applied.length}` };
  };

  /** Says what it saw. */
  readonly look = (): ProbeAnswer => {
    this.probed += 1;
    return this.applied.length > 0 ? 'applied' : 'not-applied';
  };

  /** The usual effect of these tests. */
  merging(more: Partial<EffectRequest<Shape, { sha: string }>> = {}): EffectRequest<Shape, { sha: string }> {
    return { effect: 'merge_pr', key: 'c0ffee', apply: this.merge, ...more };
  }
}

/** An ownership with a journal. */
export async function journalled(process: TestProcess, overrides: OwnershipOverrides = {}): Promise<TestOwnership> {
  const own = process.own({ effects: {}, ...overrides });
  await ok(ensureSchema(own));
  return own;
}

/** Takes the usual lease. */
export function take(own: TestOwnership, taskId = 1, context?: string) {
  return ok(acquireLease(own, { taskId, actor: 'finalizer', stage: 'deploy-staging', context }));
}

/** An ownership with a journal, the usual lease of it, and the outside system. */
export async function begin(process: TestProcess, overrides: OwnershipOverrides = {}) {
  const own = await journalled(process, overrides);
  const lease = await take(own);
  process.wire.sent.length = 0;
  return { own, lease, outside: new Outside() };
}

/** The rows of the journal. */
export function journal(rig: Rig): Record<string, unknown>[] {
  return rig.read('select * from transition_effect order by task_id, effect, "key"');
}

/** A promise with its ends in our hands. */
export function barrier(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The death of one process, and its task in the hands of another. */
export async function takeFromDead(dead: TestProcess, heir: TestProcess) {
  dead.kill();
  const own = await journalled(heir);
  return { own, lease: await take(own) };
}
