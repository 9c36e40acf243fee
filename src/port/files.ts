/** Tells one file from another that took its place. */
export interface Files {
  /** What no other file of this host has while this one is there; `null` where it cannot be told. Never throws. */
  identity(path: string): string | null;
}
