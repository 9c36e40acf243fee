import { readFileSync } from 'node:fs';
import {
  createTransitionOwnership,
  heartbeatOnly,
  processAndHeartbeat,
  type ShapeWithJobs,
  type TransitionOwnership,
} from 'transition-ownership';
import { given, object, oneOf, optional, type RulesOf, requestOf } from '../core/request.js';
import type { Order } from './arguments.js';
import type { Database } from './database.js';
import { Failed } from './failed.js';

/** An ownership whose types no one knows before the configuration is read. */
export type Ownership = TransitionOwnership<ShapeWithJobs>;

/** The parts of an ownership that not everybody has. */
export type Part = 'jobs' | 'effects';

/** How the caller's tables are mapped: the options of `createTransitionOwnership` that are plain JSON. */
export interface Mapping {
  readonly tasks: { readonly table: unknown; readonly idType?: unknown };
  readonly lease: { readonly taskIdType?: unknown };
  readonly jobs?: object;
  readonly effects?: object;
  readonly timeFormat?: unknown;
  readonly timeZone?: unknown;
  readonly liveness: keyof typeof LIVENESSES;
}

/** `singleProcess` is not among them: to it every process but the operator's would be dead. */
const LIVENESSES = { 'process-and-heartbeat': processAndHeartbeat, 'heartbeat-only': heartbeatOnly };

/** What a file may say. What is in its parts, the library itself looks at. */
const check = requestOf(
  {
    tasks: given,
    jobs: given,
    lease: given,
    effects: optional(object({ table: given, schema: given })),
    timeFormat: given,
    timeZone: given,
    liveness: oneOf('process-and-heartbeat', 'heartbeat-only'),
  } satisfies RulesOf<Mapping>,
  'the file',
);

const DEFAULTS = {
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  lease: {},
  liveness: 'process-and-heartbeat',
} as const;

/** What is looked for where no file says what there is. */
const USUAL = {
  effects: {},
  jobs: {
    table: 'jobs',
    id: 'id',
    taskId: 'task_id',
    status: 'status',
    runId: 'run_id',
    pid: 'pid',
    startedAt: 'started_at',
    statuses: { queued: 'queued', running: 'running', failed: 'failed' },
  },
} as const;

/** Reads the mapping of an order: without a file all tables under their usual names, those that there are. */
export function readMapping({ config, thisHost }: Order): Mapping {
  if (config === undefined) return { ...DEFAULTS, ...USUAL, jobs: { ...USUAL.jobs, singleHost: thisHost } };
  const { jobs, ...mapping }: Mapping = { ...DEFAULTS, ...parsed(config) };
  try {
    check({ jobs, ...mapping });
  } catch (error) {
    throw refused(config, error);
  }
  // `singleHost` was said of the host of the application; of this one only the operator can say it.
  return isObject(jobs)
    ? { ...mapping, jobs: { ...jobs, singleHost: thisHost } }
    : { ...mapping, ...(jobs !== undefined && { jobs }) };
}

/** What the library says of a file, as one sentence. */
function refused(config: string | undefined, error: unknown): Failed {
  const message = error instanceof Error ? error.message : String(error);
  return new Failed(`${String(config)}: ${message}${message.endsWith('?') ? '' : '.'}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function parsed(config: string): Partial<Mapping> {
  try {
    const value: unknown = JSON.parse(readFileSync(config, 'utf8'));
    if (isObject(value) && !Array.isArray(value)) return value;
  } catch (error) {
    throw new Failed(`${config} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
  throw new Failed(`${config} must hold a JSON object.`);
}

/** Makes an ownership of some parts over a database: an outside observer, for it never takes a lease. */
export function ownershipOver(
  db: Database,
  { kind, config }: Order,
  mapping: Mapping,
  parts: readonly Part[],
): Ownership {
  const { jobs, effects, liveness, ...always } = mapping;
  const options = {
    ...always,
    ...(parts.includes('jobs') && jobs !== undefined && { jobs }),
    ...(parts.includes('effects') && effects !== undefined && { effects }),
    liveness: LIVENESSES[liveness](),
    // What an operator orders is done; doctor shows what was found.
    survey: 'report',
    db,
    dialect: kind,
  };
  try {
    // What the compiler cannot know here, the library checks.
    return (createTransitionOwnership as unknown as (options: object) => Ownership)(options);
  } catch (error) {
    throw refused(config, error);
  }
}
