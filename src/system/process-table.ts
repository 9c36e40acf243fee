import { readFileSync, readlinkSync } from 'node:fs';
import type { ProcessSighting } from '../core/process.js';
import type { ProcessTable } from '../port/process-table.js';

const GONE: ProcessSighting = Object.freeze({ state: 'gone', start: null });
const UNKNOWN: ProcessSighting = Object.freeze({ state: 'unknown', start: null });

/** The fields of `/proc/<pid>/stat` that follow the command, which may itself hold spaces and brackets. */
function readStat(pid: number | 'self'): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

const STATE = 0; // field 3 of proc(5)
const START_TIME = 19; // field 22: clock ticks between the boot of the system and the start of the process

/** The start mark of this process, where the system has one. */
export function readOwnStart(): string | null {
  return process.platform === 'linux' ? (readStat('self')?.[START_TIME] ?? null) : null;
}

/** False where `/proc` shows the pids of another namespace: there it would show strangers under ours. */
export function isProcOurs(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}

/** A process that ended but was not collected by its parent still answers signal 0, and will never run again. */
function isEnded(state: string | undefined): boolean {
  return state === 'Z' || state === 'X';
}

/** Looks up pids by signal 0, which reaches no one, and by `/proc` where there is one. */
export const systemProcesses: ProcessTable = Object.freeze({
  sight: (pid: number): ProcessSighting => {
    if (!Number.isSafeInteger(pid) || pid <= 0) return UNKNOWN;
    try {
      process.kill(pid, 0);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'ESRCH') return GONE;
      if (code !== 'EPERM') return UNKNOWN;
    }
    const stat = process.platform === 'linux' && isProcOurs() ? readStat(pid) : null;
    if (isEnded(stat?.[STATE])) return GONE;
    return { state: 'exists', start: stat?.[START_TIME] ?? null };
  },
});
