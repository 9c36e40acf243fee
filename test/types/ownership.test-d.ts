import type { ColumnType, Generated, Kysely } from 'kysely';
import {
  acquireLease,
  acquireLeases,
  createTransitionOwnership,
  defineStages,
  forceReleaseLease,
  inspectLease,
  type Lease,
  ownedBy,
  reclaimStaleLeases,
  releaseLease,
  releaseLeases,
  type StageChange,
  shouldDefer,
  updateStageCas,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expectTypeOf, test } from 'vitest';

type Stage = 'deploy-staging' | 'deploy' | 'done';
type TaskId = number & { readonly brand: 'task' };

interface Database {
  tasks: {
    id: Generated<TaskId>;
    stage: Stage | null;
    note: string | null;
    attempts: number;
    updated_at: ColumnType<Date, Date | string, Date | string>;
  };
  builds: { id: bigint; stage: Stage };
  papers: { id: string; stage: string };
  flags: { id: number; on: boolean };
}

declare const db: Kysely<Database>;
declare const taskId: TaskId;

const tasks = { table: 'tasks', id: 'id', stage: 'stage', updatedAt: 'updated_at' } as const;
const own = createTransitionOwnership({ db, tasks });
const transitions = defineStages({ 'deploy-staging': ['deploy'], deploy: ['done', 'deploy-staging'], done: [] });
const strict = createTransitionOwnership({ db, tasks: { ...tasks, transitions } });

describe('createTransitionOwnership does not compile with', () => {
  test('a table, a column, or a kind of column that is not there', () => {
    // @ts-expect-error: no such table
    createTransitionOwnership({ db, tasks: { ...tasks, table: 'task' } });
    // @ts-expect-error: no such id column
    createTransitionOwnership({ db, tasks: { ...tasks, id: 'task_id' } });
    // @ts-expect-error: no such stage column
    createTransitionOwnership({ db, tasks: { ...tasks, stage: 'status' } });
    // @ts-expect-error: no such stamp
    createTransitionOwnership({ db, tasks: { ...tasks, updatedAt: 'updatedAt' } });
    // @ts-expect-error: a number is no stage
    createTransitionOwnership({ db, tasks: { ...tasks, stage: 'attempts' } });
    // @ts-expect-error: a flag is no stage
    createTransitionOwnership({ db, tasks: { table: 'flags', id: 'id', stage: 'on' } });
    // @ts-expect-error: text ids must be declared
    createTransitionOwnership({ db, tasks: { table: 'papers', id: 'id', stage: 'stage' } });
    // @ts-expect-error: these ids are numbers
    createTransitionOwnership({ db, tasks, lease: { taskIdType: 'text' } });
  });

  test('a judge without a verdict, though its reason may be its own', () => {
    const name = 'sessions';
    createTransitionOwnership({
      db,
      tasks,
      liveness: { name, judge: () => ({ verdict: 'dead', reason: 'no-session' }) },
    });
    createTransitionOwnership({
      db,
      tasks,
      liveness: ({ pid }, { self }) => ({ verdict: pid === self.pid ? 'live' : 'unknown', reason: 'by-pid' }),
    });
    // @ts-expect-error: no such verdict
    createTransitionOwnership({ db, tasks, liveness: () => ({ verdict: 'asleep', reason: 'x' }) });
    // @ts-expect-error: no such verdict
    createTransitionOwnership({ db, tasks, liveness: { name, judge: () => ({ verdict: 'asleep', reason: 'x' }) } });
  });

  test('an option that is not there', () => {
    // @ts-expect-error: no such mode
    createTransitionOwnership({ db, tasks, mode: 'offf' });
    // @ts-expect-error: no such dialect
    createTransitionOwnership({ db, tasks, dialect: 'oracle' });
    // @ts-expect-error: no such time format
    createTransitionOwnership({ db, tasks, timeFormat: 'unix' });
    // @ts-expect-error: no such option
    createTransitionOwnership({ db, tasks, ttlMs: 1_000 });
    // @ts-expect-error: no such kind of id
    createTransitionOwnership({ db, tasks, lease: { runIdType: 'uuid' } });
  });

  test('a move to a stage that is not there', () => {
    // @ts-expect-error: a typing mistake
    defineStages({ deploy: ['dnoe'], done: [] });
    const foreign = defineStages({ draft: ['printed'], printed: [] });
    // @ts-expect-error: stages of another table
    createTransitionOwnership({ db, tasks: { ...tasks, transitions: foreign } });
  });
});

describe('acquireLease', () => {
  test('speaks the stages and the ids of the table, brands and all', () => {
    void acquireLease(own, { taskId, actor: 'monitor', stage: 'deploy' }).map((lease) => {
      expectTypeOf(lease).toEqualTypeOf<Lease<TaskId, Stage | null, number>>();
      expectTypeOf(lease.stage).toEqualTypeOf<Stage | null | undefined>();
      expectTypeOf(lease.fencingToken).toEqualTypeOf<number | null>();
      expectTypeOf(lease.signal).toEqualTypeOf<AbortSignal>();
    });
  });

  test('takes any actor and proposes the usual ones', () => {
    void acquireLease(own, { taskId, actor: 'a robot of mine' });
    // @ts-expect-error: an actor is a name
    void acquireLease(own, { taskId, actor: 7 });
    // @ts-expect-error: somebody must ask
    void acquireLease(own, { taskId });
  });

  test('does not compile with another id, stage, run or policy', () => {
    // @ts-expect-error: a bare number is no task id of this brand
    void acquireLease(own, { taskId: 1, actor: 'monitor' });
    // @ts-expect-error: no such stage
    void acquireLease(own, { taskId, actor: 'monitor', stage: 'deployed' });
    // @ts-expect-error: run ids are numbers
    void acquireLease(own, { taskId, actor: 'monitor', runId: 'r1' });
    // @ts-expect-error: no such policy
    void acquireLease(own, { taskId, actor: 'monitor', ifStoreFails: 'hope' });
    // @ts-expect-error: no such option
    void acquireLease(own, { taskId, actor: 'monitor', ttl: 1_000 });
  });

  test('takes an option that is undefined for one that was left out', () => {
    void acquireLease(own, { taskId, actor: 'monitor', stage: undefined, runId: undefined, signal: undefined });
    void acquireLease(own, { taskId, actor: 'monitor', ttlMs: undefined, ifStoreFails: undefined });
  });

  test('names every failure, and no other', () => {
    void acquireLease(own, { taskId, actor: 'monitor' }).mapErr(({ type }) => {
      expectTypeOf(type).toEqualTypeOf<
        'lease-busy' | 'lost-race' | 'task-not-found' | 'not-granting' | 'store-failure'
      >();
    });
  });

  test('of many: leases in order, and who was in the way', () => {
    void acquireLeases(own, [{ taskId, actor: 'reconciler' }]).map(({ acquired, busy }) => {
      expectTypeOf(acquired).toEqualTypeOf<readonly Lease<TaskId, Stage | null, number>[]>();
      expectTypeOf(busy).items.toHaveProperty('holder');
    });
    // @ts-expect-error: one request is not many
    void acquireLeases(own, { taskId, actor: 'reconciler' });
  });
});

describe('ids', () => {
  const builds = createTransitionOwnership({
    db,
    tasks: { table: 'builds', id: 'id', stage: 'stage' },
    lease: { taskIdType: 'bigint', runIdType: 'text' },
  });
  const papers = createTransitionOwnership({
    db,
    tasks: { table: 'papers', id: 'id', stage: 'stage' },
    lease: { taskIdType: 'text', runIdType: 'bigint' },
  });

  test('of 64 bits are bigint, and runs have their own kind', () => {
    void acquireLease(builds, { taskId: 1n, actor: 'monitor', runId: 'r1' }).map((lease) => {
      expectTypeOf(lease.taskId).toEqualTypeOf<bigint>();
      expectTypeOf(lease.runId).toEqualTypeOf<string | null>();
    });
    // @ts-expect-error: a number would be rounded
    void acquireLease(builds, { taskId: 1, actor: 'monitor' });
    // @ts-expect-error: runs are text here
    void acquireLease(builds, { taskId: 1n, actor: 'monitor', runId: 1 });
  });

  test('of text are text', () => {
    void acquireLease(papers, { taskId: 'a', actor: 'monitor', runId: 7n });
    // @ts-expect-error: a number against text ids
    void inspectLease(papers, 7);
    // @ts-expect-error: a number against text ids
    void shouldDefer(papers, 7);
    // @ts-expect-error: a number among text ids
    void reclaimStaleLeases(papers, { taskIds: ['a', 7] });
    // @ts-expect-error: a number against text ids
    void forceReleaseLease(papers, { taskId: 7, fencingToken: 1, by: 'ada', reason: 'x' });
  });

  test('of one ownership are not those of another', () => {
    void acquireLease(builds, { taskId: 1n, actor: 'monitor' }).map((lease) => {
      const kept: Lease<bigint> = lease; // as a map of one's own keeps it: whatever its stage and its run
      void releaseLease(builds, kept);
      void releaseLeases(builds, [kept]);
      void ownedBy(builds, kept);
      void updateStageCas(builds, { taskId: 1n, expected: 'deploy', next: 'done', lease: kept });
      void releaseLease(builds, lease);
      // @ts-expect-error: a lease of other ids
      void releaseLease(papers, lease);
      // @ts-expect-error: a lease of other ids
      void ownedBy(papers, lease);
    });
  });

  test('that a driver reads as text may be bigint all the same', () => {
    const served = createTransitionOwnership({
      db: db as unknown as Kysely<{ builds: { id: string; stage: Stage } }>,
      tasks: { table: 'builds', id: 'id', stage: 'stage' },
      lease: { taskIdType: 'bigint' },
    });
    void acquireLease(served, { taskId: 1n, actor: 'monitor' });
    // @ts-expect-error: what the driver reads is not what the library takes
    void acquireLease(served, { taskId: '1', actor: 'monitor' });
  });
});

describe('updateStageCas', () => {
  test('speaks the stages of the column', () => {
    void updateStageCas(own, { taskId, expected: 'deploy', next: 'done' }).map((change) => {
      expectTypeOf(change.to).toEqualTypeOf<Stage | null>();
      expectTypeOf(change.taskId).toEqualTypeOf<TaskId>();
    });
    void updateStageCas(own, { taskId, expected: null, next: 'deploy-staging' });
    // @ts-expect-error: no such stage
    void updateStageCas(own, { taskId, expected: 'deployed', next: 'done' });
    // @ts-expect-error: no such stage
    void updateStageCas(own, { taskId, expected: 'deploy', next: 'finished' });
    // @ts-expect-error: an expected stage is never left out
    void updateStageCas(own, { taskId, next: 'done' });
    // @ts-expect-error: undefined is no stage
    void updateStageCas(own, { taskId, expected: undefined, next: 'done' });
  });

  test('sets further columns by their types, and neither the id nor the stage', () => {
    const move = { taskId, expected: 'deploy', next: 'done' } as const;
    void updateStageCas(own, { ...move, set: { note: null, attempts: 2, updated_at: '2026-01-01' } });
    // @ts-expect-error: no such column
    void updateStageCas(own, { ...move, set: { notes: 'x' } });
    // @ts-expect-error: attempts are numbers
    void updateStageCas(own, { ...move, set: { attempts: 'two' } });
    // @ts-expect-error: the stage goes in next
    void updateStageCas(own, { ...move, set: { stage: 'done' } });
    // @ts-expect-error: the id never changes
    void updateStageCas(own, { ...move, set: { id: taskId } });
  });

  test('takes legal moves only where the map of stages is given', () => {
    void updateStageCas(strict, { taskId, expected: 'deploy', next: 'deploy-staging' });
    void updateStageCas(own, { taskId, expected: 'done', next: 'deploy' });
    // @ts-expect-error: not from there
    void updateStageCas(strict, { taskId, expected: 'deploy-staging', next: 'done' });
    // @ts-expect-error: nothing follows it
    void updateStageCas(strict, { taskId, expected: 'done', next: 'deploy' });
  });

  test('names every failure, and no other', () => {
    void updateStageCas(own, { taskId, expected: 'deploy', next: 'done' }).mapErr((failure) => {
      expectTypeOf(failure.type).toEqualTypeOf<
        'lost-race' | 'lease-busy' | 'lease-lost' | 'task-not-found' | 'illegal-transition' | 'store-failure'
      >();
      if (failure.type === 'lost-race') expectTypeOf(failure.actual).toEqualTypeOf<Stage | null>();
    });
  });
});

describe('withTransitionLease', () => {
  const request = { taskId, actor: 'finalizer', stage: 'deploy' } as const;

  test('hands its handler a lease with verbs of the same types', () => {
    void withTransitionLease(own, request, (held) => {
      expectTypeOf(held.taskId).toEqualTypeOf<TaskId>();
      void held.updateStage('done', { set: { note: 'x' }, release: true }).map((change) => {
        expectTypeOf(change).toEqualTypeOf<StageChange<NonNullable<(typeof own)['shape']>>>();
      });
      // @ts-expect-error: no such stage
      void held.updateStage('finished');
      // @ts-expect-error: no such column
      void held.updateStage('done', { set: { notes: 'x' } });
      // @ts-expect-error: a time is a number
      void held.ensure('5s');
      void releaseLease(own, held);
      void updateStageCas(own, { taskId, expected: 'deploy', next: 'done', lease: held });
    });
  });

  test('gives what its handler gives, beside every failure of the lease', () => {
    const ran = withTransitionLease(own, request, async (held) => held.updateStage('done').map(() => 42 as const));
    void ran.map((value) => {
      expectTypeOf(value).toEqualTypeOf<42>();
    });
    void ran.mapErr((failure) => {
      expectTypeOf(failure.type).toEqualTypeOf<
        | 'lease-busy'
        | 'not-granting'
        | 'lease-lost'
        | 'handler-failed'
        | 'store-failure'
        | 'lost-race'
        | 'task-not-found'
        | 'illegal-transition'
      >();
    });
    void withTransitionLease(own, request, () => 'plain').mapErr(({ type }) => {
      expectTypeOf(type).toEqualTypeOf<
        | 'lease-busy'
        | 'lost-race'
        | 'task-not-found'
        | 'not-granting'
        | 'lease-lost'
        | 'handler-failed'
        | 'store-failure'
      >();
    });
  });

  test('carries the value of a handler that returned although its lease was lost', () => {
    void withTransitionLease(own, request, async () => ({ sha: 'c0ffee' })).mapErr((failure) => {
      if (failure.type === 'lease-lost') expectTypeOf(failure.value).toEqualTypeOf<{ sha: string } | undefined>();
    });
  });
});

describe('the scope', () => {
  test('is asked about ids of the table', () => {
    createTransitionOwnership({
      db,
      tasks,
      scope: (question) => {
        expectTypeOf(question.taskId).toEqualTypeOf<TaskId>();
        expectTypeOf(question.context).toBeUnknown();
        expectTypeOf(question.stage).toEqualTypeOf<Stage | null | undefined>();
        expectTypeOf(question.actor).toEqualTypeOf<string | undefined>();
        return true;
      },
    });
  });
});

describe('what task ids are', () => {
  const papers = { table: 'papers', id: 'id', stage: 'stage' } as const;

  test('is said by tasks, or by its elder alias of lease', () => {
    const said = createTransitionOwnership({ db, tasks: { ...papers, idType: 'text' } });
    const elder = createTransitionOwnership({ db, tasks: papers, lease: { taskIdType: 'text' } });
    for (const texts of [said, elder]) void acquireLease(texts, { taskId: 'a', actor: 'monitor' });
    // @ts-expect-error ids are text
    void acquireLease(said, { taskId: 1, actor: 'monitor' });
    createTransitionOwnership({
      db,
      tasks: {
        ...papers,
        // @ts-expect-error text ids must be declared
        id: 'id',
      },
    });
    const big = createTransitionOwnership({
      db,
      tasks: { table: 'builds', id: 'id', stage: 'stage', idType: 'bigint' },
    });
    void acquireLease(big, { taskId: 1n, actor: 'monitor' });
  });
});

describe('the context of a request', () => {
  const scope = ({ context }: { readonly context: unknown }) => context === 'web';
  const scoped = createTransitionOwnership({ db, tasks, scope });
  const asked = { taskId: 1 as TaskId, actor: 'monitor' } as const;
  const write = { taskId: 1 as TaskId, expected: 'deploy', next: 'done' } as const;

  test('must be said where there is a scope', () => {
    void acquireLease(scoped, { ...asked, context: 'web' });
    void acquireLeases(scoped, [{ ...asked, context: 'web' }]);
    void withTransitionLease(scoped, { ...asked, context: undefined }, async (held) => held.updateStage('done'));
    void updateStageCas(scoped, { ...write, context: { repo: 'web' } });
    // @ts-expect-error the context is missing
    void acquireLease(scoped, asked);
    // @ts-expect-error the context is missing
    void acquireLeases(scoped, [asked]);
    // @ts-expect-error the context is missing
    void withTransitionLease(scoped, asked, async () => undefined);
    // @ts-expect-error the context is missing
    void updateStageCas(scoped, write);
    void db.transaction().execute(async (trx) => {
      // @ts-expect-error the context is missing in a transaction too
      void acquireLease(scoped.using(trx), asked);
    });
  });

  test('may be said where there is none, or where nobody knows', () => {
    void acquireLease(own, asked);
    void updateStageCas(own, { ...write, context: 'web' });
    const possibly: { readonly scope?: typeof scope | undefined } = {};
    void acquireLease(createTransitionOwnership({ db, tasks, ...possibly }), asked);
    void acquireLease(createTransitionOwnership({ db, tasks, scope: undefined }), asked);
  });

  test('lets an ownership without a scope stand where one with a scope is wanted, not the reverse', () => {
    const takes = (_ownership: typeof scoped): void => undefined;
    takes(createTransitionOwnership({ db, tasks }));
    const wants = (_ownership: typeof own): void => undefined;
    // @ts-expect-error its requests would have no context
    wants(scoped);
  });
});

describe('using', () => {
  test('keeps the types on a transaction', () => {
    void db.transaction().execute(async (trx) => {
      expectTypeOf(own.using(trx)).toEqualTypeOf(own);
    });
  });
});
