/** Virtual time, in milliseconds, at which every schedule begins. */
export const startMs = 1_000_000;
