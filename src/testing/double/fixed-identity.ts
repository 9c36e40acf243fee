import { nullable, number, optional, requestOf, text } from '../../core/request.js';
import type { ProcessIdentity } from '../../index.js';

/** A process identity, and those of the processes that it is easily mistaken for. */
export interface FixedIdentity extends ProcessIdentity {
  /** Another process on the same host. */
  readonly sameHost: (pid?: number) => FixedIdentity;
  /** The same process after a restart: another pid, start mark and boot id. */
  readonly rebooted: () => FixedIdentity;
  /** Another process that got this one's pid: the start mark and boot id differ. */
  readonly pidReused: () => FixedIdentity;
  /** A process on another host that happens to have this one's pid. */
  readonly elsewhere: () => FixedIdentity;
}

const check = requestOf(
  { bootId: optional(text), pid: optional(number), start: optional(nullable(text)), host: optional(text) },
  'parts',
);

/**
 * Makes an identity for tests: pass it as the option `identity`.
 *
 * @param parts - What matters to the test; the rest has fixed values.
 * @example
 * ```ts
 * import { fixedIdentity } from 'transition-ownership/testing';
 *
 * const me = fixedIdentity({ pid: 7 });
 * const stranger = me.pidReused(); // the same pid with another start mark
 * ```
 */
export function fixedIdentity(parts: Partial<ProcessIdentity> = {}): FixedIdentity {
  check(parts);
  const identity: ProcessIdentity = { bootId: 'boot-1', pid: 101, start: 'start-1', host: 'host-1', ...parts };
  const again = (changes: Partial<ProcessIdentity>) => fixedIdentity({ ...identity, ...changes });
  const next = { bootId: successor(identity.bootId), start: successor(identity.start ?? 'start-0') };
  return Object.freeze({
    ...identity,
    sameHost: (pid = identity.pid + 1) => again({ ...next, pid }),
    rebooted: () => again({ ...next, pid: identity.pid + 1 }),
    pidReused: () => again(next),
    elsewhere: () => again({ ...next, host: successor(identity.host) }),
  });
}

/** `boot-1` becomes `boot-2`, and `boot` becomes `boot-2`. */
function successor(text: string): string {
  const [, stem = text, number = '1'] = /^(.*)-(\d+)$/.exec(text) ?? [];
  return `${stem}-${Number(number) + 1}`;
}
