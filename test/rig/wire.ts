import type { Gate } from '../../src/testing/store/gated-dialect.js';

/** One statement that went over a wire. */
export interface Sent {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** What happens to a statement on its way. */
export type Fault =
  /** It runs, and the connection breaks before the answer comes. */
  | 'reply-lost'
  /** The connection breaks on the way to the database: it does not run, and nobody can tell. */
  | 'connection lost'
  /** The connection cannot be made: it does not run. */
  | 'refused'
  /** Somebody holds the write lock: it does not run. */
  | 'busy'
  /** It breaks in a way that no driver has a word for, before it runs. */
  | 'strange';

interface Rule {
  readonly about: RegExp;
  readonly fault: Fault | ((run: () => Promise<void>) => Promise<void>);
  left: number;
}

/** A statement that a test holds back; it runs when it is let through. */
export interface Held {
  /** Resolves when the statement has come to the gate. */
  readonly arrived: Promise<void>;
  readonly letThrough: () => void;
}

/** How often a statement is tried whose tries end at once, in the two seconds that their pauses may take together. */
export const TRIES = 22;

const failed = (message: string, code: string): Error => Object.assign(new Error(message), { code });

/** The wire between a process and its database: real statements over it, with real trouble on the way. */
export class Wire implements Gate {
  readonly sent: Sent[] = [];
  #rules: Rule[] = [];
  #cut = false;

  /** The next `times` statements that a pattern matches meet a fault. */
  fault(about: RegExp, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#rules.push({ about, fault, left: times });
  }

  /** From now on nothing goes wrong. */
  mend(): void {
    this.#rules = [];
  }

  /** From now on nothing is ever answered: the process at this end is no more. */
  cut(): void {
    this.#cut = true;
  }

  /** Does something right before or after the next such statement runs, or the next few. */
  meanwhile(about: RegExp, fault: (run: () => Promise<void>) => Promise<void>, times = 1): void {
    this.#rules.push({ about, fault, left: times });
  }

  /** Holds the next such statement back. */
  hold(about: RegExp): Held {
    let arrive: () => void = () => {};
    let letThrough: () => void = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const open = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    this.meanwhile(about, async (run) => {
      arrive();
      await open;
      await run();
    });
    return { arrived, letThrough };
  }

  /** The statements so far that a pattern matches. */
  matching(about: RegExp): readonly Sent[] {
    return this.sent.filter(({ sql }) => about.test(sql));
  }

  async statement<T>(sql: string, parameters: readonly unknown[], run: () => Promise<T>): Promise<T> {
    if (this.#cut) return new Promise<T>(() => {});
    this.sent.push({ sql, parameters });
    const rule = this.#rules.find(({ about, left }) => left > 0 && about.test(sql));
    if (rule === undefined) return run();
    rule.left -= 1;
    switch (rule.fault) {
      case 'reply-lost':
        await run();
        throw failed('the statement ran, and its reply was lost', 'ECONNRESET');
      case 'connection lost':
        throw failed('connection lost', 'ECONNRESET');
      case 'refused':
        throw failed('connect ECONNREFUSED', 'ECONNREFUSED');
      case 'busy':
        throw failed('database is locked', 'SQLITE_BUSY');
      case 'strange':
        throw failed('an error of an unknown kind', 'STRANGE');
      default:
        return through(rule.fault, run);
    }
  }
}

/** Lets a test act around a statement, and hands on what the statement itself gave. */
async function through<T>(act: (run: () => Promise<void>) => Promise<void>, run: () => Promise<T>): Promise<T> {
  let outcome: Promise<T> | undefined;
  await act(async () => {
    outcome = run();
    await outcome;
  });
  return outcome ?? run();
}
