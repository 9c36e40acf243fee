import type { ProcessIdentity } from 'transition-ownership';
import type { livenesses } from './orchestrator.js';

/** What a test does to the statements of a child. */
export interface GateSetup {
  /**
   * Dies by SIGKILL before or after its n-th statement, counted from 1, or the first that matches, or when it has been
   * sent to a server and nobody knows how far it got.
   */
  readonly killAt?: { readonly statement: number | string; readonly when: 'before' | 'during' | 'after' };
  /** Each statement that matches says `parked` and waits for `proceed`. */
  readonly parkBefore?: string;
  /** Before each statement that matches these are sent: they wait in the database for all who are to come. */
  readonly meetBefore?: { readonly statement: string; readonly by: readonly string[] };
  /** Stops itself after the first statement that matches, its answer not yet delivered, until SIGCONT. */
  readonly standStillAfter?: string;
  /** SQL mutants: in each statement the first text is replaced by the second. */
  readonly mutants?: readonly (readonly [text: string, replacement: string])[];
}

/** What a test asks a child to be; handed over as its only argument. */
export interface Setup extends GateSetup {
  readonly file: string;
  readonly ttlMs?: number;
  readonly renewEveryMs?: number;
  readonly busyTimeoutMs?: number;
  readonly synchronous?: 'full' | 'normal';
  /** Default: the library's own. */
  readonly liveness?: keyof typeof livenesses;
  readonly mode?: 'off';
  /** Keeps a journal of effects. */
  readonly journal?: boolean;
  /** A clock whose timers keep the process alive. */
  readonly clock?: 'with-referenced-timers';
  /** Replaces parts of the identity of the process. */
  readonly identity?: Partial<ProcessIdentity>;
  /** Looks pids up as people do: by signal 0 alone, any failure of which means gone. */
  readonly processes?: 'by-signal-alone';
}
