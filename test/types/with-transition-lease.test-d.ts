import type { Err, Ok, Result } from 'neverthrow';
import type { HandledError, HandledValue } from 'transition-ownership';
import { describe, expectTypeOf, test } from 'vitest';

describe('withTransitionLease', () => {
  type Plain = Promise<number>;
  type Answered = Promise<Ok<'done', never> | Err<never, { type: 'mine' }>>;
  type Throws = never;
  type Rejects = Promise<never>;

  test('gives the plain value of a handler, and adds no error', () => {
    expectTypeOf<HandledValue<Plain>>().toEqualTypeOf<number>();
    expectTypeOf<HandledError<Plain>>().toBeNever();
  });

  test('gives the value and the error of a result', () => {
    expectTypeOf<HandledValue<Answered>>().toEqualTypeOf<'done'>();
    expectTypeOf<HandledError<Answered>>().toEqualTypeOf<{ type: 'mine' }>();
    expectTypeOf<HandledError<Result<number, 'a' | 'b'>>>().toEqualTypeOf<'a' | 'b'>();
  });

  test('adds nothing to the failures for a handler that always throws', () => {
    expectTypeOf<HandledValue<Throws>>().toBeNever();
    expectTypeOf<HandledError<Throws>>().toBeNever();
    expectTypeOf<HandledValue<Rejects>>().toBeNever();
    expectTypeOf<HandledError<Rejects>>().toBeNever();
  });
});
