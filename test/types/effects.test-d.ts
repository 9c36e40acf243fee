import type { Kysely } from 'kysely';
import {
  assessTransition,
  createTransitionOwnership,
  type EffectOutcome,
  type EffectUnknown,
  type Lease,
  recoverOnStartup,
  resolveEffect,
  runEffect,
  withTransitionLease,
} from 'transition-ownership';
import { describe, expectTypeOf, test } from 'vitest';

declare const db: Kysely<{ tasks: { id: number; stage: 'deploy' | 'done' } }>;
declare const lease: Lease<number, 'deploy' | 'done', number>;
declare const elsewhere: Lease<string, 'deploy' | 'done', number>;

const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  effects: {},
});

const merging = { effect: 'merge_pr', key: 'c0ffee' };

describe('runEffect', () => {
  test('answers what apply returns, or null', () => {
    const ran = runEffect(ownership, lease, { ...merging, apply: async () => ({ sha: 'c0ffee' }) });
    void ran.map((outcome) => {
      expectTypeOf(outcome).toEqualTypeOf<EffectOutcome<{ sha: string }>>();
      expectTypeOf(outcome.value).toEqualTypeOf<{ sha: string } | null>();
    });
    void ran.mapErr((failure) => {
      expectTypeOf(failure.type).toEqualTypeOf<
        'lease-lost' | 'not-enough-time' | 'effect-unknown' | 'effect-failed' | 'effect-unrecorded' | 'store-failure'
      >();
      if (failure.type === 'effect-unknown') expectTypeOf(failure).toEqualTypeOf<EffectUnknown>();
    });
    void runEffect(ownership, lease, { ...merging, apply: () => {} }).map(({ status }) => {
      expectTypeOf(status).toEqualTypeOf<'applied' | 'already-applied'>();
    });
  });

  test('takes no result that JSON would change, no probe that answers nonsense, no lease of other ids', () => {
    // @ts-expect-error: a date is not JSON
    void runEffect(ownership, lease, { ...merging, apply: async () => ({ at: new Date(0) }) });
    // @ts-expect-error: a bigint is not JSON
    void runEffect(ownership, lease, { ...merging, apply: () => 10n });
    // @ts-expect-error: a probe answers one of three words
    void runEffect(ownership, lease, { ...merging, apply: () => null, probe: async () => true });
    // @ts-expect-error: the ids of these tasks are numbers
    void runEffect(ownership, elsewhere, { ...merging, apply: () => null });
    // @ts-expect-error: an effect has a key
    void runEffect(ownership, lease, { effect: 'merge_pr', apply: () => null });
  });

  test('takes a lease of whatever stage and run', () => {
    const kept: Lease<number> = lease;
    void runEffect(ownership, kept, { ...merging, apply: () => null });
  });

  test('takes an async probe that always answers the same', () => {
    void runEffect(ownership, lease, { ...merging, apply: () => null, probe: async () => 'applied' });
    void assessTransition(ownership, 1, { probes: { merge_pr: async () => 'not-applied' } });
    void recoverOnStartup(ownership, { jobs: 'all', probes: { merge_pr: async () => 'unknown' } });
    // @ts-expect-error: a probe answers one of three words
    void runEffect(ownership, lease, { ...merging, apply: () => null, probe: () => 'done' });
  });

  test('tells a probe which task it is about', () => {
    const probe = ({ taskId }: { readonly taskId: number }) => (taskId === 1 ? 'applied' : 'unknown');
    void runEffect(ownership, lease, { ...merging, apply: () => null, probe });
    void withTransitionLease(ownership, { taskId: 1, actor: 'finalizer' }, (held) =>
      held.runEffect({ ...merging, apply: (): number => 7, probe }).map(({ value }) => {
        expectTypeOf(value).toEqualTypeOf<number | null>();
      }),
    );
    void assessTransition(ownership, 1, { probes: { merge_pr: probe } });
    void recoverOnStartup(ownership, { jobs: 'dead-only', probes: { merge_pr: probe } });
  });
});

describe('resolveEffect, assessTransition and recoverOnStartup', () => {
  test('take the ids of these tasks alone', () => {
    const word = { ...merging, outcome: 'applied', by: 'ada', reason: 'seen' } as const;
    void resolveEffect(ownership, { taskId: 1, ...word }).map((resolution) => {
      expectTypeOf(resolution).toEqualTypeOf<'resolved' | 'already-applied' | 'not-found' | 'under-way'>();
    });
    // @ts-expect-error: the ids of these tasks are numbers
    void resolveEffect(ownership, { taskId: '1', ...word });
    // @ts-expect-error: an operator knows, or says nothing
    void resolveEffect(ownership, { taskId: 1, ...word, outcome: 'unknown' });
    // @ts-expect-error: the ids of these tasks are numbers
    void assessTransition(ownership, '1');
  });

  test('answer no report of jobs without jobs', () => {
    void recoverOnStartup(ownership, { jobs: 'all' }).map(({ jobs, sanitized, transitions }) => {
      expectTypeOf(jobs).toBeNull();
      expectTypeOf(sanitized).toBeNull();
      expectTypeOf(transitions[0]?.taskId).toEqualTypeOf<number | undefined>();
    });
    // @ts-expect-error: whose jobs must be said
    void recoverOnStartup(ownership, {});
  });
});
