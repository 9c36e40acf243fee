import {
  type Attributes,
  type BatchObservableCallback,
  type Meter,
  type ObservableGauge,
  ValueType,
} from '@opentelemetry/api';
import { type Snapshot, snapshot, type TransitionOwnership, type Verdict } from '../index.js';

interface Gauges {
  readonly leases: ObservableGauge;
  readonly impossible: ObservableGauge;
  readonly unfinished: ObservableGauge;
}

const NONE: Readonly<Record<Verdict, number>> = { live: 0, dead: 0, unknown: 0 };

/**
 * Makes the gauges of what a snapshot shows; answers the function that has them read an ownership, and that answers the
 * one that stops it.
 *
 * They are gauges and not sums: every process that watches a database sees all of its rows.
 */
export function snapshotGauges(meter: Meter, common: Attributes): (ownership: TransitionOwnership) => () => void {
  const gauge = (name: string, unit: string, description: string): ObservableGauge =>
    meter.createObservableGauge(name, { unit, description, valueType: ValueType.INT });
  const gauges: Gauges = {
    leases: gauge('transition_ownership.lease.held', '{lease}', 'Leases that are held, by the verdict on their owner.'),
    impossible: gauge(
      'transition_ownership.queue.impossible',
      '{job}',
      'Queued jobs that carry the ownership of a run.',
    ),
    unfinished: gauge(
      'transition_ownership.effect.unfinished',
      '{effect}',
      'Effects that were started and whose end is not known.',
    ),
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
