import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { checkObject } from '../../core/check.js';
import {
  by,
  callable,
  given,
  limit,
  list,
  oneOf,
  optional,
  type RulesOf,
  requestOf,
  string,
} from '../../core/request.js';
import type { Awaitable } from '../store/store.js';

/** When a child ends itself, relative to its n-th statement. */
export type KillMoment = 'before' | 'after';

/** What `killEverywhere` does. */
export interface KillEverywhereOptions {
  /** The program of the child: a path, or a `file:` URL. It passes its dialect through `killable`. */
  readonly module: string | URL;
  /** Environment variables for the child besides this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node for the child: `['--import', 'tsx']`, say. */
  readonly execArgv?: readonly string[];
  /** Makes the database as the child is to find it. */
  readonly prepare?: () => Awaitable<unknown>;
  /** Does what a start-up would do after the crash. */
  readonly recover: () => Awaitable<unknown>;
  /** Throws if something is not as it must be. */
  readonly check: () => Awaitable<unknown>;
  /** Whether the child dies before its statement, after it, or each in turn. Default: both. */
  readonly when?: readonly KillMoment[];
  /** The most statements that are tried; more is an endless child. Default: 1,000. */
  readonly maxPoints?: number;
}

const check = requestOf(
  {
    module: given,
    env: optional(by(checkObject)),
    execArgv: optional(list(string)),
    prepare: optional(callable),
    recover: callable,
    check: callable,
    when: optional(list(oneOf('before', 'after'))),
    maxPoints: optional(limit()),
  } satisfies RulesOf<KillEverywhereOptions>,
  'options',
);

/** What `killEverywhere` found. */
export interface KillReport {
  /** How many crashes there were. */
  readonly points: number;
  /** The crashes after which recovery or check threw. */
  readonly failures: readonly { readonly statement: number; readonly when: KillMoment; readonly error: Error }[];
}

/**
 * Runs a program again and again as a real process that kills itself with SIGKILL at its first statement, its second,
 * and so on until it gets to its end; after each, recovers and checks.
 *
 * Slow: a process start for each point. For nightly runs.
 *
 * @example
 * ```ts
 * import { killEverywhere } from 'transition-ownership/testing';
 *
 * const run = (): Promise<unknown> =>
 *   killEverywhere({
 *     module: new URL('./child.js', import.meta.url), // does the work over a `killable` dialect
 *     recover: async () => undefined, // starts it once more, to the end
 *     check: async () => undefined, // throws if something is done twice, or not at all
 *   });
 * ```
 */
export async function killEverywhere(options: KillEverywhereOptions): Promise<KillReport> {
  check(options);
  const failures: { statement: number; when: KillMoment; error: Error }[] = [];
  let points = 0;
  for (const when of options.when ?? (['before', 'after'] as const)) {
    for (let statement = 1; ; statement++) {
      if (statement > (options.maxPoints ?? 1_000))
        throw new RangeError(`the child sends more than ${statement - 1} statements`);
      await options.prepare?.();
      if (!(await diesAt(options, { statement, when }))) break;
      points++;
      try {
        await options.recover();
        await options.check();
      } catch (error) {
        failures.push({ statement, when, error: error instanceof Error ? error : new Error(String(error)) });
      }
    }
  }
  return { points, failures };
}

interface Moment {
  readonly statement: number;
  readonly when: KillMoment;
}

/** Runs the child; true if it died of its signal, false if it got to its end. */
async function diesAt({ module, env, execArgv }: KillEverywhereOptions, at: Moment): Promise<boolean> {
  const path = module instanceof URL ? fileURLToPath(module) : module;
  const child = fork(path, [], {
    env: { ...process.env, ...env, [killVariable]: `${at.when} ${at.statement}` },
    execArgv: [...(execArgv ?? process.execArgv)],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { code, signal, said } = await endOf(child);
  if (signal === 'SIGKILL') return true;
  if (code !== 0) throw new Error(`the child failed by itself with code ${String(code)}: ${said}`);
  return false;
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null; said: string }> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, said }));
  });
}

/** The environment variable that tells a child when to die: `before 3`. */
export const killVariable = 'TRANSITION_OWNERSHIP_KILL';
