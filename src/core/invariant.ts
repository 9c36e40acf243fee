/** Throws if something is false that can only be false by a fault of this library or of its table. */
export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`Broken invariant: ${what}`);
}
