import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';

/** One line of the log: an effect that took place. */
export interface Applied {
  readonly task: number;
  readonly key: string;
  readonly token: number;
  readonly pid: number;
  /** How long the log was when whoever applied this last asked it about this effect; `null` if it never asked. */
  readonly askedAt: number | null;
}

/** A line with where it begins in the log. */
export interface Logged extends Applied {
  readonly at: number;
}

/**
 * The outside world: a file to which every process appends, one line for each effect that really took place. It knows
 * nothing of leases, refuses nobody, and answers what it has.
 */
export class Outside {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the irreversible step: one write at the end of the file, on disk when this returns. */
  apply(effect: Applied): void {
    const file = openSync(this.#path, 'a');
    writeSync(file, `${JSON.stringify(effect)}\n`);
    fsyncSync(file);
    closeSync(file);
  }

  /** Whether an effect took place, and how long the log was that says so. */
  ask({ task, key }: Pick<Applied, 'task' | 'key'>): { readonly applied: boolean; readonly askedAt: number } {
    if (!existsSync(this.#path)) return { applied: false, askedAt: 0 };
    const askedAt = statSync(this.#path).size;
    const lines = this.read().filter(({ at }) => at < askedAt);
    return { applied: lines.some((line) => line.task === task && line.key === key), askedAt };
  }

  /** The same as the probes that a recovery asks. */
  readonly probes = {
    release: ({ taskId: task, key }: { readonly taskId: number; readonly key: string }) =>
      this.ask({ task, key }).applied ? ('applied' as const) : ('not-applied' as const),
  };

  /** The whole log, in the order in which things happened. */
  read(): Logged[] {
    if (!existsSync(this.#path)) return [];
    let at = 0;
    const logged: Logged[] = [];
    for (const line of readFileSync(this.#path, 'utf8').split('\n').slice(0, -1)) {
      logged.push({ ...(JSON.parse(line) as Applied), at });
      at += line.length + 1; // The lines are ASCII.
    }
    return logged;
  }
}
