import { describe, expectTypeOf, test } from 'vitest';
import { boolean, given, oneOf, optional, type RulesOf, requestOf, text } from '../../src/core/request.js';

interface Request {
  readonly actor: string;
  readonly dryRun?: boolean | undefined;
  readonly how?: 'fast' | 'slow' | undefined;
  readonly context?: unknown;
}

const flag = optional(boolean);
const how = optional(oneOf('fast', 'slow'));
const late = optional(oneOf('fast', 'late'));

describe('the rules of a request', () => {
  test('are those of its type, and give values of its types', () => {
    const check = requestOf({
      actor: text,
      dryRun: optional(boolean, false),
      how,
      context: given,
    } satisfies RulesOf<Request>);
    expectTypeOf(check({})).toEqualTypeOf<{
      readonly actor: string;
      readonly dryRun: boolean;
      readonly how: 'fast' | 'slow' | undefined;
      readonly context: unknown;
    }>();
  });

  test('do not compile without one of its names, or with another', () => {
    // @ts-expect-error -- the rule for `dryRun` is missing
    ({ actor: text, how, context: given }) satisfies RulesOf<Request>;
    // @ts-expect-error -- there is no `dryrun`
    ({ actor: text, dryRun: flag, how, context: given, dryrun: flag }) satisfies RulesOf<Request>;
  });

  test('do not compile where one would demand what may be left out, leave out what must be said, or take another type', () => {
    // @ts-expect-error -- `dryRun` may be left out
    ({ actor: text, dryRun: boolean, how, context: given }) satisfies RulesOf<Request>;
    // @ts-expect-error -- `actor` must be said
    ({ actor: optional(text), dryRun: flag, how, context: given }) satisfies RulesOf<Request>;
    // @ts-expect-error -- `dryRun` is no text
    ({ actor: text, dryRun: optional(text), how, context: given }) satisfies RulesOf<Request>;
    // @ts-expect-error -- `how` has no such word
    ({ actor: text, dryRun: flag, how: late, context: given }) satisfies RulesOf<Request>;
  });
});
