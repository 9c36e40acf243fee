import { setTimeout } from 'node:timers/promises';
import {
  acquireLease,
  ensureSchema,
  type Held,
  inspectLease,
  type LeaseRequest,
  reclaimStaleLeases,
  releaseLease,
  type Shape,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { handmade } from './by-hand.js';
import { jobsOf } from './jobs.js';
import { say, standStill } from './line.js';
import { type Orchestrator, orchestrator } from './orchestrator.js';
import { listeners, processOf } from './process.js';
import type { Setup } from './setup.js';
import { told } from './told.js';
import { transitionsOf } from './transitions.js';

/** A stage write as a test asks for it. */
export interface Write {
  readonly taskId: number;
  readonly expected: string;
  readonly next: string;
  readonly note?: string;
  readonly release?: boolean;
}

/** How a handler is to end. */
export type End = { readonly value: unknown } | { readonly error: string };

/** A request as a test sends it. */
export type Request = Pick<LeaseRequest<Shape>, 'actor' | 'ttlMs'> & {
  readonly taskId: number;
  readonly stage?: string;
};

/** The verbs on leases and stages, one command each. */
function verbsOf(setup: Setup, { ownership, leases, leaseOf }: Orchestrator) {
  return {
    identity: async () => ({ ...ownership.identity }),
    async schema() {
      const ensured = await ensureSchema(ownership);
      if (ensured.isErr()) throw new Error(ensured.error.message);
      return ensured.value;
    },
    /** At an instant that several processes were given: opens another file, brings its schema up to date, closes it. */
    async schemaOf({ file, atMs }: { file: string; atMs: number }) {
      while (Date.now() < atMs);
      const other = orchestrator({ ...setup, file });
      const change = await told(ensureSchema(other.ownership));
      await other.db.destroy();
      return change;
    },
    close: () => told(ownership.close()),
    async acquire(request: Request) {
      const acquired = await acquireLease(ownership, request);
      if (acquired.isOk()) leases.set(request.taskId, acquired.value);
      return told(Promise.resolve(acquired));
    },
    release: ({ taskId }: { taskId: number }) => told(releaseLease(ownership, leaseOf(taskId))),
    reclaim: (options: { taskIds?: number[] }) => told(reclaimStaleLeases(ownership, options)),
    inspect: ({ taskId }: { taskId: number }) => told(inspectLease(ownership, taskId)),
    ensure: ({ taskId, ms }: { taskId: number; ms: number }) => told((leaseOf(taskId) as Held).ensure(ms)),
    write: ({ taskId, note, ...write }: Write) =>
      told(
        updateStageCas(ownership, {
          ...write,
          taskId,
          lease: leases.get(taskId),
          ...(note !== undefined && { set: { note } }),
        }),
      ),
  };
}

/** Handlers whose steps the test takes one by one, and the signals of their leases. */
function handlersOf({ ownership, leases, leaseOf, outside }: Orchestrator) {
  let end: (how: End) => void = () => {
    throw new Error('no handler is running');
  };
  const touch = (taskId: number) => {
    const { signal } = leaseOf(taskId);
    return { aborted: signal.aborted, reason: signal.reason as unknown };
  };
  return {
    /** Runs a handler that says `holding` and then ends as `end` tells it to. */
    hold: (request: Request) =>
      told(
        withTransitionLease(ownership, request, (held) => {
          leases.set(request.taskId, held);
          return new Promise((resolve, reject) => {
            end = (how) => ('error' in how ? reject(new Error(how.error)) : resolve(how.value));
            say({ said: 'holding', token: held.fencingToken });
          });
        }),
      ),
    end: async (how: End) => end(how),
    effect: async ({ taskId }: { taskId: number }) => outside.apply(taskId, leaseOf(taskId).fencingToken),
    /** Runs a handler that takes its time. */
    work: ({ forMs, ...request }: Request & { forMs: number }) =>
      told(withTransitionLease(ownership, request, () => setTimeout(forMs, 'worked'))),
    /** Holds the task after this one, and asks for a second. */
    ensureHeld: ({ taskId, ...request }: Request) =>
      told(withTransitionLease(ownership, { ...request, taskId: taskId + 1 }, (held) => held.ensure(1_000))),
    signal: async ({ taskId }: { taskId: number }) => touch(taskId),
    /** Stands still, then touches the lease before anything else can run. */
    async touchAfterStandstill({ taskId }: { taskId: number }) {
      leaseOf(taskId);
      standStill();
      return touch(taskId);
    },
  };
}

/** Everything that a test can have a child do. */
export function commandsOf(setup: Setup) {
  const listenersBefore = listeners();
  const made = orchestrator(setup);
  return {
    ...verbsOf(setup, made),
    ...handlersOf(made),
    ...transitionsOf(made),
    ...jobsOf(made),
    ...handmade(made),
    ...processOf(setup, made, listenersBefore),
  };
}

/** The commands by name. */
export type Commands = ReturnType<typeof commandsOf>;
