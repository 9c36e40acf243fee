import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Result, ResultAsync } from 'neverthrow';
import {
  acquireLease,
  ensureSchema,
  type Held,
  inspectLease,
  type Lease,
  type LeaseRequest,
  reclaimStaleLeases,
  releaseLease,
  type Shape,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { say, standStill } from './line.js';
import { orchestrator } from './orchestrator.js';
import type { Setup } from './setup.js';

/** A stage write as a test asks for it. */
export interface Write {
  readonly taskId: number;
  readonly expected: string;
  readonly next: string;
  readonly note?: string;
  readonly release?: boolean;
}

/** A whole transition; with `asking` (the default) it asks whether the effect was applied before. */
export interface Transition {
  readonly taskId: number;
  readonly release?: boolean;
  readonly asking?: boolean;
}

/** How a handler is to end. */
export type End = { readonly value: unknown } | { readonly error: string };

/** A request as a test sends it. */
export type Request = Pick<LeaseRequest<Shape>, 'actor' | 'ttlMs'> & {
  readonly taskId: number;
  readonly stage?: string;
};

/** The outcome of a verb on its way to the test. */
export type Told<T, E> = { readonly ok: T } | { readonly err: E };

async function told<T, E>(outcome: ResultAsync<T, E> | Promise<Result<T, E>>): Promise<Told<T, E>> {
  const result = await outcome;
  return result.isOk() ? { ok: result.value } : { err: result.error };
}

function listeners(): string[] {
  return process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`);
}

/** Everything that a test can have a child do. */
export function commandsOf(setup: Setup) {
  const listenersBefore = listeners();
  const { db, ownership, gate } = orchestrator(setup);
  const leases = new Map<number, Lease<number, string, number>>();
  let end: (how: End) => void = () => {
    throw new Error('no handler is running');
  };
  let longestGapMs = 0;
  let enough = false;
  const leaseOf = (taskId: number): Lease<number, string, number> => {
    const lease = leases.get(taskId);
    if (lease === undefined) throw new Error(`no lease on task ${taskId}`);
    return lease;
  };
  const effects = `${setup.file}.effects`;
  /** The outside world: a file that every process appends to, one line for each time that the step was really taken. */
  const apply = (taskId: number, token: number | null, asking = true): void => {
    const applied = asking && existsSync(effects) && readFileSync(effects, 'utf8').includes(`task ${taskId} `);
    if (!applied) appendFileSync(effects, `task ${taskId} token ${token}\n`);
  };
  const touch = (taskId: number) => {
    const { signal } = leaseOf(taskId);
    return { aborted: signal.aborted, reason: signal.reason as unknown };
  };

  return {
    identity: async () => ({ ...ownership.identity }),
    schema: () => told(ensureSchema(ownership)),
    /** At an instant that several processes were given: opens another file, brings its schema up to date, closes it. */
    async schemaOf({ file, atMs }: { file: string; atMs: number }) {
      while (Date.now() < atMs);
      const other = orchestrator({ ...setup, file });
      const change = await told(ensureSchema(other.ownership));
      await other.db.destroy();
      return change;
    },
    proceed: async () => gate.proceed(),
    /** A statement of the test's own, past the library. */
    query: async ({ text }: { text: string }) => (await sql.raw(text).execute(db)).rows,
    statements: async () => gate.count,
    close: () => told(ownership.close()),
    destroy: () => db.destroy(),

    async acquire(request: Request) {
      const acquired = await acquireLease(ownership, request);
      if (acquired.isOk()) leases.set(request.taskId, acquired.value);
      return told(Promise.resolve(acquired));
    },
    release: ({ taskId }: { taskId: number }) => told(releaseLease(ownership, leaseOf(taskId))),
    reclaim: (options: { taskIds?: number[] }) => told(reclaimStaleLeases(ownership, options)),
    inspect: ({ taskId }: { taskId: number }) => told(inspectLease(ownership, taskId)),
    signal: async ({ taskId }: { taskId: number }) => touch(taskId),
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
    effect: async ({ taskId }: { taskId: number }) => apply(taskId, leaseOf(taskId).fencingToken),

    /** Holds the task after this one, and asks for a second. */
    ensureHeld: ({ taskId, ...request }: Request) =>
      told(withTransitionLease(ownership, { ...request, taskId: taskId + 1 }, (held) => held.ensure(1_000))),
    /** Runs a handler that takes its time. */
    work: ({ forMs, ...request }: Request & { forMs: number }) =>
      told(withTransitionLease(ownership, request, () => setTimeout(forMs, 'worked'))),

    /** Every listener on the process, before the library was there and now. */
    listeners: async () => ({ before: listenersBefore, now: listeners() }),
    async listenTo({ signal }: { signal: NodeJS.Signals }) {
      process.on(signal, () => say({ said: signal }));
    },

    /** Watches how long the event loop stands at most. */
    async watchLoop() {
      let last = performance.now();
      longestGapMs = 0;
      setInterval(() => {
        const now = performance.now();
        longestGapMs = Math.max(longestGapMs, now - last);
        last = now;
      }, 5).unref();
    },
    longestGapMs: async () => longestGapMs,

    /** Fills the file system to the last byte, or makes room again. */
    async fillDisk({ full }: { full: boolean }) {
      const filler = `${setup.file}.filler`;
      if (!full) {
        rmSync(filler);
        return null;
      }
      for (;;) {
        try {
          appendFileSync(filler, Buffer.alloc(4_096));
        } catch (error) {
          return (error as NodeJS.ErrnoException).code;
        }
      }
    },

    /** Stands still, then touches the lease before anything else can run. */
    async touchAfterStandstill({ taskId }: { taskId: number }) {
      leaseOf(taskId);
      standStill();
      return touch(taskId);
    },

    /** What an orchestrator does at its start: reclaims the leases of the dead, then finishes the task. */
    async recover(request: Transition) {
      const reclaimed = await told(reclaimStaleLeases(ownership));
      const transition = await this.transition(request);
      return { reclaimed, transition };
    },

    /** The whole transition from `deploy` to `done`: lease, effect, stage; a task that is done is left alone. */
    async transition({ taskId, release = false, asking = true }: Transition) {
      const task = await db.selectFrom('tasks').select(['stage', 'count']).where('id', '=', taskId).executeTakeFirst();
      if (task === undefined || task.stage !== 'deploy') return { ok: { stage: task?.stage } };
      const request = { taskId, actor: 'finalizer', stage: 'deploy' };
      return told(
        withTransitionLease(ownership, request, (held) => {
          apply(taskId, held.fencingToken, asking);
          return held.updateStage('done', { set: { count: task.count + 1 }, release });
        }),
      );
    },

    /** Tries for every task in turn, as fast as it can, and keeps what it wins. */
    async race({ tasks }: { tasks: readonly number[] }) {
      const won: number[] = [];
      const refused = new Set<string>();
      for (const taskId of tasks) {
        const acquired = await acquireLease(ownership, { taskId, actor: 'racer' });
        if (acquired.isOk()) won.push(taskId);
        else refused.add(acquired.error.type);
      }
      return { won, refused: [...refused] };
    },

    /** Goes on as a user who may signal nobody else's process. */
    async becomeNobody() {
      process.setgid?.(65_534);
      process.setuid?.(65_534);
    },

    /** What signal 0 to a process answers. */
    async signalZero({ pid }: { pid: number }) {
      try {
        process.kill(pid, 0);
        return 'sent';
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    },

    /** By hand: looks whether the task is free, and then takes it. */
    async lookThenInsert({ taskId }: { taskId: number }) {
      const found = await sql`select 1 from handmade where task_id = ${taskId}`.execute(db);
      if (found.rows.length > 0) return 'busy';
      await sql`insert into handmade (task_id, owner) values (${taskId}, ${process.pid})`.execute(db);
      return 'won';
    },

    /** By hand: reads a counter, adds one, and writes it back. */
    async countUnguarded({ taskId }: { taskId: number }) {
      const { count } = await db.selectFrom('tasks').select('count').where('id', '=', taskId).executeTakeFirstOrThrow();
      await db
        .updateTable('tasks')
        .set({ count: count + 1 })
        .where('id', '=', taskId)
        .execute();
    },

    /** Moves a task to and fro, each time counting in JavaScript under the lease; busy means once more. */
    async toAndFro({ taskId, times = Number.POSITIVE_INFINITY }: { taskId: number; times?: number }) {
      const failures = new Set<string>();
      let moves = 0;
      while (moves < times && !enough) {
        const moved = await withTransitionLease(ownership, { taskId, actor: 'monitor' }, async (held) => {
          const task = await db.selectFrom('tasks').selectAll().where('id', '=', taskId).executeTakeFirstOrThrow();
          const next = task.stage === 'deploy' ? 'done' : 'deploy';
          return held.updateStage(next, { expected: task.stage, set: { count: task.count + 1 } });
        });
        if (moved.isOk()) moves += 1;
        else failures.add(moved.error.type);
      }
      return { moves, failures: [...failures] };
    },
    async enough() {
      enough = true;
    },
  };
}

export type Commands = ReturnType<typeof commandsOf>;
