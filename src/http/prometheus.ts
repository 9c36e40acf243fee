import { EVENT_METRICS, GAUGES, type Metric, oldestLeaseMs } from '../core/metrics.js';
import { EVENT_TYPES, type EventType, type Snapshot, type Verdict } from '../index.js';

/** Of what a version of Prometheus' text format the answer is. */
export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/** One value, with the labels that tell it from the others of its name. */
type Point = readonly [value: number, labels?: Readonly<Record<string, string>>];

/**
 * Writes a snapshot in the text format of Prometheus: gauges of what is in the database, and a counter for each type of
 * event, from zero.
 *
 * The names are those under which Prometheus has the instruments of `transition-ownership/opentelemetry`.
 *
 * @example
 * ```ts
 * import { snapshot } from 'transition-ownership';
 * import { toPrometheus } from 'transition-ownership/http';
 * import { ownership } from './setup.js';
 *
 * const text = (await snapshot(ownership)).map(toPrometheus); // for your own GET /metrics, beside what it has
 * ```
 */
export function toPrometheus({
  leases,
  jobCounts: jobs,
  impossibleQueued,
  unfinishedEffects,
  counters,
}: Snapshot): string {
  const held = (verdict: Verdict): Point => [
    leases.filter((lease) => lease.verdict === verdict).length,
    { ['transition_ownership_verdict']: verdict },
  ];
  const gauges: readonly string[][] = [
    lines(GAUGES.leases, 'gauge', [held('live'), held('dead'), held('unknown')]),
    lines(GAUGES.oldestLease, 'gauge', [[oldestLeaseMs(leases) / 1_000]]),
    lines(GAUGES.queued, 'gauge', pointsOf(jobs && jobs.queued)),
    lines(GAUGES.running, 'gauge', pointsOf(jobs && jobs.running)),
    lines(GAUGES.oldestJob, 'gauge', pointsOf(jobs && (jobs.oldestRunningMs ?? 0) / 1_000)),
    lines(GAUGES.impossible, 'gauge', pointsOf(impossibleQueued)),
    lines(GAUGES.unfinished, 'gauge', pointsOf(unfinishedEffects)),
  ];
  const counts = (Object.keys(EVENT_TYPES) as EventType[]).map((type) =>
    lines(EVENT_METRICS[type], 'counter', [[counters[EVENT_TYPES[type].counter]]]),
  );
  return [...gauges, ...counts].flatMap((each) => each.map((line) => `${line}\n`)).join('');
}

/** What an ownership has no option for is left out. */
const pointsOf = (value: number | null): readonly Point[] => (value === null ? [] : [[value]]);

function lines(metric: Metric, kind: 'gauge' | 'counter', points: readonly Point[]): string[] {
  if (points.length === 0) return [];
  const name = nameOf(metric, kind);
  const values = points.map(([value, labels]) => `${name}${labels === undefined ? '' : labelled(labels)} ${value}`);
  return [`# HELP ${name} ${metric.description}`, `# TYPE ${name} ${kind}`, ...values];
}

/** As OpenTelemetry's rules for Prometheus have it: units in braces say what is counted, and are left out. */
function nameOf({ name, unit }: Metric, kind: 'gauge' | 'counter'): string {
  return `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}${kind === 'counter' ? '_total' : ''}`;
}

function labelled(labels: Readonly<Record<string, string>>): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}}`;
}
