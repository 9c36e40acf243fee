import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import { HISTOGRAMS, type Metric } from '../core/metrics.js';
import type { OwnershipEvent } from '../index.js';
import { Since } from './since.js';

/** Seconds: from a stage write to the longest hold that is allowed by default. */
const BOUNDARIES = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1_800, 3_600];

/** Whoever has not asked again for so long waits no more. */
const GIVEN_UP_MS = 600_000;

/** Measures how long things took; `follows` says whether a hold is open here. */
export function durations(
  meter: Meter,
  common: Attributes,
  follows: (event: Extract<OwnershipEvent, { type: 'lease.released' | 'lease.lost' }>) => boolean,
): (event: OwnershipEvent) => void {
  const make = ({ name, unit, description }: Metric): Histogram =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: BOUNDARIES } });
  const [hold, wait, effect, recovery] = [HISTOGRAMS.hold, HISTOGRAMS.wait, HISTOGRAMS.effect, HISTOGRAMS.recovery].map(
    make,
  ) as [Histogram, Histogram, Histogram, Histogram];
  const waiting = new Since(GIVEN_UP_MS);
  const started = new Since();
  const record = (histogram: Histogram, ms: number | undefined, attributes: Attributes): void => {
    if (ms !== undefined) histogram.record(ms / 1_000, { ...common, ...attributes });
  };

  return (event) => {
    switch (event.type) {
      case 'lease.busy':
        waiting.begin([event.taskId, event.actor]);
        break;
      case 'lease.acquired':
        record(wait, waiting.end([event.taskId, event.actor]), {});
        break;
      case 'lease.released':
        // A lease that was lost may still be given back: it was held once.
        if (follows(event)) record(hold, event.heldMs, { [OUTCOME]: 'released' });
        break;
      case 'lease.lost':
        if (follows(event)) record(hold, event.heldMs, { [OUTCOME]: 'lost', [REASON]: event.reason });
        break;
      case 'effect.started':
        started.begin([event.taskId, event.effect, event.key], true);
        break;
      case 'effect.applied':
      case 'effect.unknown':
      case 'effect.unrecorded': {
        const ms = started.end([event.taskId, event.effect, event.key]);
        const outcome = event.type.slice('effect.'.length);
        record(effect, ms, { [EFFECT]: event.effect, 'transition_ownership.effect.outcome': outcome });
        break;
      }
      case 'recovery.finished':
        record(recovery, event.tookMs, {});
        break;
      default:
    }
  };
}

const OUTCOME = 'transition_ownership.hold.outcome';
const REASON = 'transition_ownership.reason';
const EFFECT = 'transition_ownership.effect.name';
