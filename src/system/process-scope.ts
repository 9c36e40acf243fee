import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../core/process.js';
import type { ClaimRegistry } from '../port/claim-registry.js';
import { isProcOurs, readOwnStart } from './process-table.js';

/** What all copies of the package in one process share. Its shape is frozen for ever. */
interface ProcessScope {
  readonly claims: ClaimRegistry;
  /** Made at first use and again in a process that inherited the memory of another. */
  identity: ProcessIdentity | undefined;
}

const KEY = Symbol.for('transition-ownership.process.v1');
const store = globalThis as { [KEY]?: ProcessScope };

function scope(): ProcessScope {
  store[KEY] ??= { claims: new Map(), identity: undefined };
  return store[KEY];
}

/**
 * The scope in which a pid of this process can be looked up: kernel boot, pid namespace, time namespace and
 * host name. Two containers on one kernel differ in the first namespace; the second moves start marks. Where
 * any part cannot be read, or `/proc` is another namespace's, the scope is unique to this process, so that
 * pids prove nothing and leases end by expiry.
 */
function readHostScope(): string {
  try {
    const kernelBoot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const namespaces = ['pid', 'time'].filter(isKnownNamespace).map((kind) => readlinkSync(`/proc/self/ns/${kind}`));
    if (isProcOurs()) return [kernelBoot, ...namespaces, hostname()].join('/');
  } catch {
    // A part that cannot be read.
  }
  return `unprovable/${randomUUID()}`;
}

/** Kernels before 5.6 have no time namespaces; all have those of pids, or the scope cannot be proved. */
function isKnownNamespace(kind: string): boolean {
  return kind === 'pid' || readdirSync('/proc/self/ns').includes(kind);
}

/** The identity of this process, made lazily where it is used and never inherited. */
export function processIdentity(): ProcessIdentity {
  const shared = scope();
  if (shared.identity?.pid !== process.pid) {
    const host = readHostScope();
    shared.identity = Object.freeze({ bootId: randomUUID(), pid: process.pid, start: readOwnStart(), host });
  }
  return shared.identity;
}

/** The claims of this process, one registry for all ownership objects and all copies of the package. */
export function processClaims(): ClaimRegistry {
  return scope().claims;
}
