/** Distinguishes a file from another that took its place. */
export interface Files {
  /** What no other file of this host has while this one is there; `null` where it is not known. Never throws. */
  identity(path: string): string | null;
}
