import {
  type Attributes,
  type BatchObservableCallback,
  type Meter,
  type ObservableGauge,
  ValueType,
} from '@opentelemetry/api';
import { GAUGES, oldestLeaseMs } from '../core/metrics.js';
import { type Snapshot, snapshot, type TransitionOwnership, type Verdict } from '../index.js';

type Gauges = Readonly<Record<keyof typeof GAUGES, ObservableGauge>>;

const NONE: Readonly<Record<Verdict, number>> = { live: 0, dead: 0, unknown: 0 };

/**
 * Makes the gauges of what a snapshot shows; returns the function that has them read an ownership, and that returns the
 * one that stops it.
 *
 * They are gauges and not sums: every process that watches a database sees all of its rows.
 */
export function snapshotGauges(meter: Meter, common: Attributes): (ownership: TransitionOwnership) => () => void {
  const made = Object.entries(GAUGES).map(([key, { name, unit, description }]) => {
    const valueType = unit === 's' ? ValueType.DOUBLE : ValueType.INT;
    return [key, meter.createObservableGauge(name, { unit, description, valueType })] as const;
  });
  const gauges = Object.fromEntries(made) as Gauges;
  const observed = Object.values(gauges);
  return (ownership) => {
    const callback = reader(ownership, gauges, common);
    meter.addBatchObservableCallback(callback, observed);
    return () => meter.removeBatchObservableCallback(callback, observed);
  };
}

/** Takes a snapshot whenever metrics are collected: one for all who collect meanwhile, and none that failed. */
function reader(ownership: TransitionOwnership, gauges: Gauges, common: Attributes): BatchObservableCallback {
  let taking: Promise<Snapshot | null> | undefined;
  const take = async (): Promise<Snapshot | null> => {
    try {
      return (await snapshot(ownership)).unwrapOr(null);
    } finally {
      taking = undefined;
    }
  };
  return async (result) => {
    taking ??= take();
    const seen = await taking;
    if (seen === null) return;
    const counts = { ...NONE };
    for (const { verdict } of seen.leases) counts[verdict] += 1;
    for (const [verdict, count] of Object.entries(counts))
      result.observe(gauges.leases, count, { ...common, 'transition_ownership.verdict': verdict });
    const { jobCounts: jobs, leases, impossibleQueued, unfinishedEffects } = seen;
    const values: readonly (readonly [ObservableGauge, number | null])[] = [
      [gauges.oldestLease, oldestLeaseMs(leases) / 1_000],
      [gauges.queued, jobs && jobs.queued],
      [gauges.running, jobs && jobs.running],
      [gauges.oldestJob, jobs && (jobs.oldestRunningMs ?? 0) / 1_000],
      [gauges.impossible, impossibleQueued],
      [gauges.unfinished, unfinishedEffects],
    ];
    for (const [gauge, value] of values) if (value !== null) result.observe(gauge, value, common);
  };
}
