/** Who a process is. Two claims belong to one process only if all four parts are equal. */
export interface ProcessIdentity {
  /** A random nonce made once per process start; never derived from host or pid. */
  readonly bootId: string;
  /** The operating system's number of the process; means something only within `host`. */
  readonly pid: number;
  /** The start mark of the pid (a reused pid has another); `null` where it cannot be read. */
  readonly start: string | null;
  /** The scope in which a pid can be looked up; unique to the process where no such scope can be proved. */
  readonly host: string;
}

/** What this process can tell about a pid of its own host scope. */
export interface ProcessSighting {
  /** `exists` also when the probe was not permitted; `unknown` when the probe itself failed. */
  readonly state: 'exists' | 'gone' | 'unknown';
  /** The start mark of the process that has the pid now; `null` where it cannot be read. */
  readonly start: string | null;
}
