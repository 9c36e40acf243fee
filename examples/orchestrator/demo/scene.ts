import type { Story } from './story.js';

/** What every act of the demo is given. */
export interface Scene {
  /** Where the processes share a database and a log. */
  readonly directory: string;
  readonly story: Story;
}

const and = new Intl.ListFormat('en');

/** Names in a sentence: `a, b, and c`. */
export const list = (names: readonly string[]): string => and.format(names);
