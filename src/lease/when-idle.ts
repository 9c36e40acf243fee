import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Context } from '../context.js';
import { notGranting } from '../core/fail.js';
import type { NotGranting } from '../core/failure.js';
import { type RulesOf, requestOf, signal } from '../core/request.js';
import { neverReject } from '../sql/never-reject.js';
import type { IdleOptions } from '../transition-ownership.js';

const check = requestOf({ signal } satisfies RulesOf<IdleOptions>, 'options');

/** Waits until no lease of this process is left, with or without a row, and none is being acquired. */
export function whenIdle({ root }: Context, options: IdleOptions): ResultAsync<void, NotGranting> {
  const { signal: given } = check(options);
  return neverReject(root.session, wait(root, given)) as ResultAsync<void, NotGranting>;
}

async function wait({ idle, running }: Context, given: AbortSignal): Promise<Result<void, NotGranting>> {
  const aborted = new Promise<void>((resolve) => {
    if (given.aborted) resolve();
    else given.addEventListener('abort', () => resolve(), { once: true });
  });
  for (;;) {
    if (given.aborted) return err(notGranting('aborted'));
    const end = { wait: (): void => {} };
    const noLease = new Promise<void>((resolve) => {
      end.wait = idle.wait(resolve);
    });
    await Promise.race([aborted, noLease.then(() => Promise.allSettled(running))]);
    end.wait();
    if (!given.aborted && running.size === 0 && idle.isIdle()) return ok();
  }
}
