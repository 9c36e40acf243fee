import { checkDialect, findImpossibleQueued } from 'transition-ownership';
import type { Kind } from './arguments.js';
import {
  type Diagnosis,
  explainDeadRun,
  explainEffect,
  explainImpossible,
  explainLease,
  explainUnreadable,
} from './explain.js';
import { Failed, Misshapen, neverReject } from './failed.js';
import type { Mapping, Ownership, Part } from './mapping.js';
import { isThere, partsOf } from './parts.js';
import { foresee, NO_JOBS, PIDS } from './recover.js';
import type { Report } from './report.js';
import { readLeases, wantsAttention } from './status.js';
import { counted, painted, printable, styled, textOf } from './text.js';

/** What the doctor is shown. */
export interface Patient {
  readonly kind: Kind;
  readonly mapping: Mapping;
  /** True if the mapping was read from a file, and is not what the library is used with by default. */
  readonly mapped: boolean;
  /** True by the word of the operator: bare pids of job rows are those of this host. */
  readonly pidsCount: boolean;
  readonly over: (parts: readonly Part[]) => Ownership;
}

/** Explains whatever is wrong, part by part: one that cannot be looked at hides no other. Changes nothing. */
export async function doctor(patient: Patient): Promise<Report> {
  const { kind } = patient;
  const found: Diagnosis[] = [];
  const failures = new Set<string>();
  for (const look of [leases, settings, queuedJobs, runningJobs, effects]) {
    try {
      found.push(...(await look(patient)));
    } catch (error) {
      // A database that cannot be asked for its leases need not be asked for more.
      if (!(error instanceof Failed) || (look === leases && !(error instanceof Misshapen))) throw error;
      failures.add(error.message);
    }
  }
  if (kind === 'sqlite') found.push(advice('settings-of-this-connection', CONNECTION));
  const findings = found.sort((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
  const wrong = findings.filter(({ severity }) => severity !== 'advice').length;
  const code = failures.size > 0 ? 2 : wrong > 0 ? 1 : 0;
  const end = wrong === 0 ? (failures.size > 0 ? '' : 'Nothing is wrong.') : `${counted(wrong, 'finding')}.`;
  const text = textOf([...findings.map(line), end !== '' && end]);
  return { code, text, document: { command: 'doctor', findings }, failures: [...failures] };
}

const SEVERITIES: readonly Diagnosis['severity'][] = ['error', 'warning', 'advice'];
const STYLES = { error: 'red', warning: 'yellow', advice: 'dim' } as const;
const CONNECTION =
  'synchronous and the busy timeout belong to each connection and are not in the file: run checkDialect in your application.';

const advice = (code: string, message: string): Diagnosis => ({ code, severity: 'advice', message });

function line({ code, severity, message }: Diagnosis): string {
  return `${painted(styled(severity.padEnd(7), STYLES[severity]))}  ${code}: ${printable(message)}`;
}

type Look = (patient: Patient) => Promise<readonly Diagnosis[]>;

const settings: Look = async ({ over, mapped }) => {
  const checked = await checkDialect(over(await partsOf(mapped, over)), { settingsOnly: true, rows: true });
  return neverReject(checked, 'The settings cannot be read').findings;
};

const leases: Look = async ({ over }) => {
  const { leases } = await readLeases(over([]));
  return leases.filter(wantsAttention).map(explainLease);
};

const queuedJobs: Look = async (patient) => {
  if (!(await hasJobs(patient))) return [advice('no-jobs', NO_JOBS)];
  return neverReject(await findImpossibleQueued(patient.over(['jobs'])), JOBS).map(explainImpossible);
};

const runningJobs: Look = async (patient) => {
  if (!(await hasJobs(patient))) return [];
  const { jobs, unreadable } = await foresee(patient.over(['jobs']), JOBS);
  const unproved = jobs.kept.length > 0 && !patient.pidsCount;
  return [
    ...explainUnreadable(unreadable),
    ...jobs.requeued.map(explainDeadRun),
    ...(unproved ? [advice('bare-pids', PIDS)] : []),
  ];
};

async function hasJobs({ over, mapping, mapped }: Patient): Promise<boolean> {
  return mapping.jobs !== undefined && (mapped || (await isThere('jobs', over)));
}

const JOBS = 'The jobs cannot be read';

const effects: Look = async ({ over, mapping, mapped }) => {
  if (mapping.effects === undefined) return [];
  if (!mapped && !(await isThere('effects', over)))
    return [advice('no-effects', 'No effects were looked at: no journal of effects can be read.')];
  const { transitions } = await foresee(over(['effects']), 'The effects cannot be read');
  return transitions.flatMap(({ taskId, effects }) =>
    effects.filter(({ state }) => state === 'started').map((effect) => explainEffect(taskId, effect)),
  );
};
