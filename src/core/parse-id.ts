import { err, ok, type Result } from 'neverthrow';
import { invalidId } from './fail.js';
import type { InvalidId } from './failure.js';
import { checkId, type IdType, type IdValue } from './id.js';
import { inspectValue } from './inspect-value.js';

/** The one spelling of a whole number in decimal digits, of as many as 64 bits may need. */
const CANONICAL = /^(?:0|-?[1-9]\d{0,18})$/;

const WANTED: Readonly<Record<IdType, string>> = {
  integer: 'a safe integer, or one in decimal digits',
  bigint: 'an integer of 64 bits, or one in decimal digits',
  text: 'text of 1 to 255 bytes, without NUL characters and lone surrogates',
};

/** Reads an id that comes from outside; what would have to be trimmed, rounded or guessed at is none. */
export function parseId(name: string, type: IdType, given: unknown): Result<IdValue, InvalidId> {
  const id = converted(type, given);
  try {
    checkId(name, type, id);
    return ok(id);
  } catch {
    return err(invalidId(`${name} must be ${WANTED[type]}, got ${inspectValue(given)}.`));
  }
}

function converted(type: IdType, given: unknown): unknown {
  if (type === 'text') return given;
  if (typeof given === 'string')
    return CANONICAL.test(given) ? (type === 'bigint' ? BigInt(given) : Number(given)) : null;
  return type === 'bigint' && Number.isSafeInteger(given) ? BigInt(given as number) : given;
}
