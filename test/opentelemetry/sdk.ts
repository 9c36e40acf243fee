import type { Attributes, HrTime, Meter, Tracer } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type OpenTelemetryOptions, openTelemetry } from 'transition-ownership/opentelemetry';

/** One series: its attributes, and its value; for a histogram the sum, beside the count. */
export interface Point {
  readonly attributes: Attributes;
  readonly value: number;
  readonly count?: number;
}

/** What was collected of one instrument. */
export interface Collected {
  readonly unit: string;
  readonly points: readonly Point[];
}

/** Longer than a test: metrics are collected when a test says so. */
const NEVER_MS = 2 ** 30;

const inMemory = () => new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);

/** OpenTelemetry's own SDK, whose exporters keep everything in memory. */
export class Sdk implements AsyncDisposable {
  readonly #exporter = inMemory();
  readonly #meters: MeterProvider;
  readonly #spans = new InMemorySpanExporter();
  readonly tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] });
  readonly meter: Meter;
  readonly tracer: Tracer = this.tracers.getTracer('test');

  /** All readers collect at once; the first one's metrics are kept. */
  constructor({ readers = 1 } = {}) {
    const exporters = [this.#exporter, ...Array.from({ length: readers - 1 }, inMemory)];
    this.#meters = new MeterProvider({
      readers: exporters.map(
        (exporter) => new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: NEVER_MS }),
      ),
    });
    this.meter = this.#meters.getMeter('test');
  }

  /** Telemetry that goes to this SDK. */
  telemetry(options: OpenTelemetryOptions = {}) {
    return openTelemetry({ meter: this.meter, tracer: this.tracer, ...options });
  }

  /** Collects the metrics, by the names of their instruments. */
  async collect(): Promise<ReadonlyMap<string, Collected>> {
    this.#exporter.reset();
    await this.#meters.forceFlush();
    const metrics = this.#exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((all) => all.metrics));
    return new Map(
      metrics.map(({ descriptor, dataPoints }) => [
        descriptor.name,
        { unit: descriptor.unit, points: dataPoints.map(({ attributes, value }) => ({ attributes, ...read(value) })) },
      ]),
    );
  }

  /** The spans that have ended, in the order of their ends. */
  get ended(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#meters.shutdown();
    await this.tracers.shutdown();
  }
}

function read(value: unknown): Pick<Point, 'value' | 'count'> {
  if (typeof value === 'number') return { value };
  const { sum = 0, count } = value as { readonly sum?: number; readonly count: number };
  return { value: sum, count };
}

/** What a span says, without its times and its place. */
export function told({ name, attributes, status, events }: ReadableSpan) {
  return { name, attributes, status: status.message ?? status.code, events: events.map(({ name }) => name) };
}

/** True if the first instant is not after the second. */
export function inOrder([seconds, nanos]: HrTime, [laterSeconds, laterNanos]: HrTime): boolean {
  return seconds < laterSeconds || (seconds === laterSeconds && nanos <= laterNanos);
}
