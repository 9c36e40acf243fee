/** Chance, as a port, so that a simulated process is determined by its schedule alone. */
export interface Randomness {
  /** A string that no one else will ever make; names an acquisition. */
  claim(): string;
  /** A number from 0 up to but not including 1; spreads retries and renewals. */
  fraction(): number;
}
