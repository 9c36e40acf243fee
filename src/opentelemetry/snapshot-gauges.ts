import {
  type Attributes,
  type BatchObservableCallback,
  type Meter,
  type ObservableGauge,
  ValueType,
} from '@opentelemetry/api';
import { GAUGES, type Metric } from '../core/metrics.js';
import { type Snapshot, snapshot, type TransitionOwnership, type Verdict } from '../index.js';

interface Gauges {
  readonly leases: ObservableGauge;
  readonly impossible: ObservableGauge;
  readonly unfinished: ObservableGauge;
}

const NONE: Readonly<Record<Verdict, number>> = { live: 0, dead: 0, unknown: 0 };

/**
 * Makes the gauges of what a snapshot shows; returns the function that has them read an ownership, and that returns the
 * one that stops it.
 *
 * They are gauges and not sums: every process that watches a database sees all of its rows.
 */
export function snapshotGauges(meter: Meter, common: Attributes): (ownership: TransitionOwnership) => () => void {
  const gauge = ({ name, unit, description }: Metric): ObservableGauge =>
    meter.createObservableGauge(name, { unit, description, valueType: ValueType.INT });
  const gauges: Gauges = {
    leases: gauge(GAUGES.leases),
    impossible: gauge(GAUGES.impossible),
    unfinished: gauge(GAUGES.unfinished),
  };
  const observed = Object.values(gauges) as ObservableGauge[];
  return (ownership) => {
    const callback = reader(ownership, gauges, common);
    meter.addBatchObservableCallback(callback, observed);
    return () => meter.removeBatchObservableCallback(callback, observed);
  };
}

/** Takes a snapshot whenever metrics are collected: one for all who collect meanwhile, and none that failed. */
function reader(
  ownership: TransitionOwnership,
  { leases, impossible, unfinished }: Gauges,
  common: Attributes,
): BatchObservableCallback {
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
      result.observe(leases, count, { ...common, 'transition_ownership.verdict': verdict });
    if (seen.impossibleQueued !== null) result.observe(impossible, seen.impossibleQueued, common);
    if (seen.unfinishedEffects !== null) result.observe(unfinished, seen.unfinishedEffects, common);
  };
}
