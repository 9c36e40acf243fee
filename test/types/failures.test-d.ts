import type { ResultAsync } from 'neverthrow';
import type { Failure, Holder, LeaseLost, OwnershipEvent, StoreFailure } from 'transition-ownership';
import { describe, expectTypeOf, test } from 'vitest';

/** Handles every failure; forgetting one would not compile. */
function handled(failure: Failure): string {
  switch (failure.type) {
    case 'lease-busy':
      expectTypeOf(failure.holder).toEqualTypeOf<Holder | null>();
      return failure.reason;
    case 'not-granting':
      expectTypeOf(failure.reason).toEqualTypeOf<'draining' | 'closed' | 'aborted'>();
      return failure.reason;
    case 'lease-lost':
      expectTypeOf(failure.reason).toEqualTypeOf<'superseded' | 'gone' | 'over-budget' | 'unverifiable'>();
      return failure.reason;
    case 'not-enough-time':
      return String(failure.remainingMs);
    case 'lost-race':
      return String(failure.actual);
    case 'task-not-found':
      return String(failure.taskId);
    case 'illegal-transition':
      return `${String(failure.from)} ${String(failure.to)}`;
    case 'handler-failed':
    case 'effect-failed':
      expectTypeOf(failure.cause).toBeUnknown();
      return failure.message;
    case 'effect-unknown':
      return failure.effect;
    case 'effect-unrecorded':
      expectTypeOf(failure.cause).toEqualTypeOf<StoreFailure>();
      return failure.key;
    case 'token-mismatch':
      return failure.holder.claim;
    case 'already-free':
    case 'invalid-id':
      return failure.message;
    case 'store-failure':
      expectTypeOf(failure.outcome).toEqualTypeOf<'not-applied' | 'unknown'>();
      return failure.kind;
    default:
      expectTypeOf(failure).toBeNever();
      return failure;
  }
}

describe('a failure', () => {
  test('is one of a closed union, told apart by type', () => {
    expectTypeOf(handled).returns.toBeString();
  });

  test('that is forgotten does not compile', () => {
    const forgetful = (failure: Extract<Failure, { type: 'lease-lost' | 'store-failure' }>): string => {
      switch (failure.type) {
        case 'lease-lost':
          return failure.reason;
        default:
          // @ts-expect-error: a store failure is left
          failure satisfies never;
          return '';
      }
    };
    expectTypeOf(forgetful).toBeFunction();
  });

  test('cannot be changed', () => {
    const change = (failure: LeaseLost, store: StoreFailure): void => {
      // @ts-expect-error: every part of a failure is read only
      failure.reason = 'gone';
      // @ts-expect-error: every part of a failure is read only
      store.retryable = true;
    };
    expectTypeOf(change).toBeFunction();
  });

  test('is not told by a verb that has none', () => {
    const never = (answer: ResultAsync<number, never>): void => {
      void answer.map((value) => {
        expectTypeOf(value).toBeNumber();
      });
      void answer.mapErr((failure) => {
        expectTypeOf(failure).toBeNever();
      });
    };
    expectTypeOf(never).toBeFunction();
  });
});

describe('an event', () => {
  test('carries what its type promises', () => {
    const heard = (event: OwnershipEvent): void => {
      if (event.type === 'lease.lost') expectTypeOf(event.reason).toEqualTypeOf<LeaseLost['reason']>();
      if (event.type === 'stage.changed') expectTypeOf(event.to).toEqualTypeOf<string | null>();
      // @ts-expect-error: not every event is about a task
      void event.taskId;
      // @ts-expect-error: no such event
      if (event.type === 'lease.stolen') return;
    };
    expectTypeOf(heard).toBeFunction();
  });
});
