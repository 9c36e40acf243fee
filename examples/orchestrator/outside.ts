import { appendFileSync, readFileSync } from 'node:fs';
import { point } from './points.js';

/** One irreversible step, as the outside world remembers it. */
export interface Applied {
  readonly effect: string;
  readonly taskId: number;
  /** Which application of the effect this is: the commit that is shipped. */
  readonly key: string;
  /** The fencing token under which it was asked for; `null` if nothing was guarded. */
  readonly fencingToken: number | null;
  readonly pid: number;
}

/**
 * The world that cannot be rolled back: a code host, an image registry, a production cluster. Here it is a file
 * opened for appending, one line for each step, so that whatever was done twice is there twice.
 */
export class Outside {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Does the step. It does not know whether it was done before: that is the orchestrator's business. */
  async apply(step: Omit<Applied, 'pid'>): Promise<void> {
    await point(`${step.effect} asked`);
    appendFileSync(this.#file, `${JSON.stringify({ ...step, pid: process.pid })}\n`);
    await point(`${step.effect} applied`);
  }

  /** Whether the step is there: what every honest outside system can be asked. */
  has({ effect, key }: Pick<Applied, 'effect' | 'key'>): boolean {
    return this.applied().some((step) => step.effect === effect && step.key === key);
  }

  /** Everything that was ever done. */
  applied(): Applied[] {
    try {
      const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Applied);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}
