import { err, ok, type Result } from 'neverthrow';
import type { HandledError, HandledValue } from 'transition-ownership';
import { describe, expectTypeOf, test } from 'vitest';

describe('withTransitionLease', () => {
  const plain = async () => 7;
  const result = async () => (Math.random() > 0.5 ? ok('done' as const) : err({ type: 'mine' as const }));
  const throws = () => {
    throw new Error('never returns');
  };
  const rejects = async () => {
    throw new Error('never resolves');
  };

  test('gives the plain value of a handler, and adds no error', () => {
    expectTypeOf<HandledValue<ReturnType<typeof plain>>>().toEqualTypeOf<number>();
    expectTypeOf<HandledError<ReturnType<typeof plain>>>().toBeNever();
  });

  test('gives the value and the error of a result', () => {
    expectTypeOf<HandledValue<ReturnType<typeof result>>>().toEqualTypeOf<'done'>();
    expectTypeOf<HandledError<ReturnType<typeof result>>>().toEqualTypeOf<{ type: 'mine' }>();
    expectTypeOf<HandledError<Result<number, 'a' | 'b'>>>().toEqualTypeOf<'a' | 'b'>();
  });

  test('adds nothing to the failures for a handler that always throws', () => {
    expectTypeOf<HandledValue<ReturnType<typeof throws>>>().toBeNever();
    expectTypeOf<HandledError<ReturnType<typeof throws>>>().toBeNever();
    expectTypeOf<HandledValue<ReturnType<typeof rejects>>>().toBeNever();
    expectTypeOf<HandledError<ReturnType<typeof rejects>>>().toBeNever();
  });
});
