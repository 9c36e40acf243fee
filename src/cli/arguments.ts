import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { Misused } from './failed.js';

/** The databases that the tool opens, by the option that names one. */
export type Kind = 'sqlite' | 'postgres' | 'mysql';

/** What an operator ordered. */
export interface Order {
  readonly command: Command;
  readonly kind: Kind;
  /** The file of an SQLite database, or the URL of a server. */
  readonly place: string;
  /** The file with the mapping of the tables. */
  readonly config: string | undefined;
  readonly json: boolean;
  readonly dryRun: boolean;
  /** The operator's word that the bare pids of job rows are those of this host. */
  readonly thisHost: boolean;
  readonly everyMs: number;
  /** Where the page is served; 0 for any port that is free. */
  readonly port: number;
  /** In whose name the orders of the page are given. */
  readonly by: string;
  /** How long a proof may take, about. */
  readonly seconds: number;
  readonly release: Release | undefined;
}

/** Which lease is to be taken from its owner, as it was typed; by whom, and why. */
export interface Release {
  readonly task: string;
  readonly token: number;
  readonly by: string;
  readonly reason: string;
}

const COMMANDS = ['status', 'doctor', 'release', 'sanitize', 'recover', 'watch', 'ui', 'verify'] as const;

/** What the tool can do. */
export type Command = (typeof COMMANDS)[number];

const KINDS = ['sqlite', 'postgres', 'mysql'] as const;

const URLS: Readonly<Record<Kind, RegExp>> = {
  sqlite: /./s,
  postgres: /^postgres(ql)?:\/\//,
  mysql: /^(mysql|mariadb):\/\//,
};

const OPTIONS = {
  sqlite: { type: 'string' },
  postgres: { type: 'string' },
  mysql: { type: 'string' },
  config: { type: 'string' },
  json: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'this-host': { type: 'boolean' },
  task: { type: 'string' },
  token: { type: 'string' },
  reason: { type: 'string' },
  by: { type: 'string' },
  port: { type: 'string' },
  every: { type: 'string' },
  seconds: { type: 'string' },
} as const;

/** The options that only some commands have. */
const ONLY: Partial<Record<keyof typeof OPTIONS, readonly Command[]>> = {
  'dry-run': ['sanitize', 'recover'],
  'this-host': ['doctor', 'recover'],
  task: ['release'],
  token: ['release'],
  reason: ['release'],
  by: ['release', 'ui'],
  port: ['ui'],
  every: ['watch'],
  seconds: ['verify'],
  config: ['status', 'watch', 'doctor', 'release', 'sanitize', 'recover', 'ui'],
};

/** Reads a command line; throws {@link Misused}. */
export function readArguments(line: readonly string[]): Order {
  const { values, positionals } = parsed(line);
  const [command, ...more] = positionals;
  if (!isCommand(command)) throw new Misused(`Name one of the commands ${COMMANDS.join(', ')}.`);
  // What was typed is not repeated, here and below: it may hold a password.
  if (more.length > 0) throw new Misused('One command at a time, and each database by its option.');
  for (const name of Object.keys(values) as (keyof typeof OPTIONS)[]) {
    if (ONLY[name]?.includes(command) === false) throw new Misused(`${command} has no option --${name}.`);
  }
  const [kind, another] = KINDS.filter((name) => values[name] !== undefined);
  if (kind === undefined || another !== undefined) {
    throw new Misused('Name one database: --sqlite FILE, --postgres URL or --mysql URL.');
  }
  const place = values[kind] ?? '';
  if (!URLS[kind].test(place)) {
    throw new Misused(`--${kind} takes ${kind === 'sqlite' ? 'a file' : `a URL: ${kind}://user@host/database`}.`);
  }
  return {
    command,
    kind,
    place,
    config: values.config,
    json: values.json ?? false,
    dryRun: values['dry-run'] ?? false,
    thisHost: values['this-host'] ?? false,
    everyMs: everyMsOf(values.every ?? '2'),
    port: portOf(values.port ?? '0'),
    by: values.by ?? user(),
    seconds: secondsOf(values.seconds ?? '60'),
    release: command === 'release' ? releaseOf(values) : undefined,
  };
}

function parsed(line: readonly string[]) {
  try {
    return parseArgs({ args: [...line], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Misused(`${message.split('. To specify a positional')[0]?.replace(/\.$/, '') ?? ''}.`);
  }
}

function isCommand(name: string | undefined): name is Command {
  return COMMANDS.some((command) => command === name);
}

function everyMsOf(every: string): number {
  const seconds = Number(every);
  if (!(seconds >= 0.1 && seconds <= 86_400)) throw new Misused('--every takes seconds, from 0.1 to 86400.');
  return seconds * 1_000;
}

function portOf(port: string): number {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Misused('--port takes a number up to 65535.');
  return Number(port);
}

function secondsOf(seconds: string): number {
  const count = Number(seconds);
  if (!(count >= 10 && count <= 86_400)) throw new Misused('--seconds takes a number from 10 to 86400.');
  return count;
}

function releaseOf({ task, token, reason, by }: ReturnType<typeof parsed>['values']): Release {
  if (!task || !token || !reason) {
    throw new Misused('release needs --task and --token, as status shows them, and a --reason.');
  }
  if (!/^\d{1,15}$/.test(token)) throw new Misused('--token takes the number that status shows.');
  return { task, token: Number(token), reason, by: by ?? user() };
}

/** Who runs the tool; a container may run it as someone who has no name. */
function user(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
