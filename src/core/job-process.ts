import type { ProcessIdentity, ProcessSighting } from './process.js';

/** What is known of the process of a running job. */
export type JobProcess = 'alive' | 'dead' | 'unknown';

/** The process that a job row names. */
export interface NamedProcess {
  readonly pid: number | null;
  /** The host scope and the start mark of the pid, where they are mapped. */
  readonly host: string | null;
  readonly pidStart: string | null;
}

/** What one observer knows when it looks a job's process up. */
export interface ProcessObservation {
  /** Where a pid of a job row means something to this observer. */
  readonly pidScope: 'nowhere' | 'this-host' | 'named-host';
  /** The observer's own process. */
  readonly self: Pick<ProcessIdentity, 'host'>;
  /** Looks a pid up; called only where its answer counts. */
  readonly sight: (pid: number) => ProcessSighting;
}

/**
 * Says whether the process of a job is alive: pure, one truth table.
 *
 * | evidence, in this order | process |
 * |---|---|
 * | no pid | unknown |
 * | pids mean nothing here: neither `singleHost` nor `host` and `pidStart` | unknown |
 * | the row names another host, or none although hosts are mapped | unknown |
 * | pid gone | dead |
 * | the probe failed | unknown |
 * | pid exists with another start mark than the row's | dead |
 * | pid exists | alive |
 */
export function judgeJobProcess({ pid, host, pidStart }: NamedProcess, observation: ProcessObservation): JobProcess {
  const { pidScope, self, sight } = observation;
  if (pid === null || pidScope === 'nowhere') return 'unknown';
  if (pidScope === 'named-host' && host !== self.host) return 'unknown';
  const sighting = sight(pid);
  if (sighting.state === 'gone') return 'dead';
  if (sighting.state === 'unknown') return 'unknown';
  const reused = pidStart !== null && sighting.start !== null && sighting.start !== pidStart;
  return reused ? 'dead' : 'alive';
}
