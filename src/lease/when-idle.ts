import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Context } from '../context.js';
import { notGranting } from '../core/fail.js';
import type { NotGranting } from '../core/failure.js';
import { type RulesOf, requestOf, signal } from '../core/request.js';
import { follow } from '../holding/followers.js';
import { neverReject } from '../sql/never-reject.js';
import type { IdleOptions } from '../transition-ownership.js';

const check = requestOf({ signal } satisfies RulesOf<IdleOptions>, 'options');

/** Waits until no lease of this process is left, with or without a row, and none is being acquired. */
export function whenIdle({ root }: Context, options: IdleOptions): ResultAsync<void, NotGranting> {
  const { signal: given } = check(options);
  return neverReject(root.session, wait(root, given)) as ResultAsync<void, NotGranting>;
}

async function wait({ idle, running }: Context, given: AbortSignal): Promise<Result<void, NotGranting>> {
  while (!given.aborted) {
    if (running.size === 0 && idle.isIdle()) return ok();
    await until(given, (done) => idle.wait(() => void Promise.allSettled(running).then(done)));
  }
  return err(notGranting('aborted'));
}

/** Waits for what calls back, or for the signal; nothing of it is left behind. */
function until(given: AbortSignal, begin: (done: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    const unfollow = follow(given, () => done());
    const done = (): void => {
      unfollow();
      end();
      resolve();
    };
    const end = begin(done);
  });
}
