/** What became of one thing that was to be proved. */
export interface Proof {
  readonly name: string;
  /**
   * `proved`: in every order that there is; `held`: in all that there was time for; `not-tried`: it could not be tried
   * there, which says nothing of it.
   */
  readonly result: 'proved' | 'held' | 'broken' | 'not-tried';
  /** How far it was looked at, or what was seen. */
  readonly detail: string;
}

/** What an error says, in one line. */
export function said(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ').slice(0, 300);
}
