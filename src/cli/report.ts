/** How a command ended: clean, with findings, or failed. */
export type Code = 0 | 1 | 2;

/** What a command has to say: to people and to programs. */
export interface Report {
  readonly code: Code;
  /** For people, on standard output. */
  readonly text: string;
  /** The document of `--json`. */
  readonly document: object;
  /** What could not be looked at, one sentence each: on standard error, and in the document. */
  readonly failures?: readonly string[];
}

/** A report of a command that could look at everything. */
export function report(findings: boolean, text: string, document: object): Report {
  return { code: findings ? 1 : 0, text, document };
}
