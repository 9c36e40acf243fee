import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { point } from './control.js';

/** One irreversible step, and which application of it: the commit that is shipped, and of what. */
export interface Step {
  readonly effect: string;
  readonly key: string;
}

/** The world that cannot be rolled back: a code host, an image registry, a production cluster. */
export interface Outside {
  /** Does a step. It does not know whether it was done before: that is the orchestrator's business. */
  apply(step: Step & { readonly taskId: number; readonly fencingToken: number | null }): Promise<void>;
  /** Whether a step is done: what every honest outside system can be asked. */
  has(step: Step): Promise<boolean>;
}

/** A step as the log has it. */
export interface Applied extends Step {
  readonly taskId: number;
  /** The fencing token under which it was asked for; `null` if nothing was guarded. */
  readonly fencingToken: number | null;
  readonly pid: number;
}

/** How long a step takes. */
const stepMs = Number(process.env['EFFECT_MS'] ?? 1_500);

/** Here that world is a file, opened for appending: whatever was done twice is there twice. */
export class FileOutside implements Outside {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async apply({ effect, key, taskId, fencingToken }: Parameters<Outside['apply']>[0]): Promise<void> {
    await point(`${effect} asked`);
    await pause(stepMs);
    appendFileSync(this.#file, `${JSON.stringify({ taskId, effect, key, fencingToken, pid: process.pid })}\n`);
    await point(`${effect} applied`);
  }

  async has({ effect, key }: Step): Promise<boolean> {
    return readLog(this.#file).some((step) => step.effect === effect && step.key === key);
  }
}

/** Everything that was ever done. */
export const readLog = (file: string): Applied[] => readLines(file).map((line) => JSON.parse(line) as Applied);

/** The whole lines of a file; none if there is no file yet. */
export function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
