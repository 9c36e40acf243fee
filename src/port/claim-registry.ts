/** What the process knows of one of its claims. */
export interface ClaimEntry {
  /** The step of the claim's life. An entry lasts until its handler settled and its release got its reply. */
  readonly phase: 'acquiring' | 'held' | 'releasing';
  /** True while the row was written in a caller's transaction that is not yet seen committed. */
  readonly provisional: boolean;
}

/**
 * The claims that a process holds, is acquiring or is releasing, by the claim; also by `schema.table/claim`,
 * as version 0.1.0 knows it.
 *
 * It answers one question: is a row that carries my identity really in use? A `Map` is all it takes, and a
 * `Map` is all that it is, because several copies of the package share one and its shape can never change.
 */
export type ClaimRegistry = Map<string, ClaimEntry>;
