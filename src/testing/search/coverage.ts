/** What is told of a search in one line. */
export interface Covered {
  readonly complete: boolean;
  readonly schedules: number;
  readonly ms: number;
  /** Every schedule with at most so many switches was run; undefined if that is not known, or says nothing. */
  readonly switches: number | undefined;
}

/** The line that says what was covered: `2,306 schedules, every one`. */
export function coverage({ complete, schedules, ms, switches }: Covered): string {
  const within = switches === undefined ? '' : `all with at most ${switches} switches`;
  const many = `${schedules.toLocaleString('en')} schedules`;
  if (complete) return `${many}, ${within || 'every one'}`;
  const seconds = (ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 });
  return `stopped after ${seconds} s: ${many}, ${within || 'not all'}`;
}
