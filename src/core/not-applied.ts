/** The brand that every copy of this package knows. */
const BRAND = Symbol.for('transition-ownership.not-applied');

/**
 * Thrown by an effect's `apply` to say that it certainly did nothing.
 *
 * Throw it only where that is sure: the request was never sent, or the outside system refused it as a whole.
 * A time-out, a lost connection or a reply that cannot be read is *not* such a case. Any other throw
 * means that no one knows, and the effect is held.
 *
 * @example
 * ```ts
 * import { NotApplied } from 'transition-ownership';
 *
 * const refused = new NotApplied('the branch is protected', { cause: { status: 403 } });
 * refused.name; // 'NotApplied'
 * ```
 */
export class NotApplied extends Error {
  /** Always `NotApplied`, also where class names are shortened. */
  override readonly name: string = 'NotApplied';
  /** @internal */
  readonly [BRAND] = true;
}

/** True for a {@link NotApplied} of any copy of this package. */
export function isNotApplied(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && Reflect.get(thrown, BRAND) === true;
}
