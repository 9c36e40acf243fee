/** Dashboards and traces: counters, the length of holds, gauges of a snapshot, and a span for each hold. */
import { metrics, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Kysely, sql } from 'kysely';
import type { Result } from 'neverthrow';
import {
  acquireLease,
  createTransitionOwnership,
  ensureSchema,
  type Failure,
  releaseLease,
  toError,
  withTransitionLease,
} from 'transition-ownership';
import { openTelemetry } from 'transition-ownership/opentelemetry';
import { openSqlite } from 'transition-ownership/sqlite';

// Your SDK, started first; here it keeps what it is told in memory.
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: measured })] });
const traced = new InMemorySpanExporter();
metrics.setGlobalMeterProvider(meters);
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(traced)] }));

interface Database {
  tasks: { id: number; stage: string };
}

const db = new Kysely<Database>({ dialect: openSqlite(':memory:') });
await sql`create table tasks (id integer primary key, stage text not null)`.execute(db);
await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();

const telemetry = openTelemetry(); // one for each ownership
const ownership = createTransitionOwnership({
  db,
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  effects: {},
  onEvent: telemetry.onEvent,
});
telemetry.observe(ownership); // gauges, read whenever metrics are collected
orThrow(await ensureSchema(ownership));

const request = { taskId: 1, actor: 'finalizer', stage: 'deploy' } as const;
const done = await withTransitionLease(ownership, request, async (held) => {
  void (await acquireLease(ownership, { taskId: 1, actor: 'monitor' })); // busy
  const merged = await held.runEffect({ effect: 'merge_pr', key: 'c0ffee', apply: () => ({ merged: true }) });
  return merged.asyncAndThen(() => held.updateStage('done'));
});
orThrow(done);
const lease = orThrow(await acquireLease(ownership, { taskId: 1, actor: 'monitor' }));

const NAME = 'transition_ownership.';
const short = (told: object): string => JSON.stringify(told).replaceAll(NAME, '');
await meters.forceFlush();
for (const { descriptor, dataPoints } of measured.getMetrics()[0]?.scopeMetrics[0]?.metrics ?? []) {
  for (const { attributes, value } of dataPoints) {
    // What wants a person is counted from zero; an age is another at each run.
    if (value === 0 || descriptor.name.endsWith('.age')) continue;
    const shown = typeof value === 'number' ? value : `${value.count} measured`;
    console.log(`${descriptor.name.replace(NAME, '')} ${short(attributes)}: ${shown}`);
  }
}

orThrow(await releaseLease(ownership, lease));
orThrow(await ownership.close());
telemetry.close();
console.log('the spans:');
for (const { name, attributes, events } of traced.getFinishedSpans()) {
  const outcome = String(attributes[`${NAME}hold.outcome`] ?? attributes[`${NAME}effect.outcome`]);
  console.log(`${name.replace(NAME, '')}, ${outcome}: ${events.map((event) => event.name).join() || 'nothing noted'}`);
}
await meters.shutdown();
await db.destroy();

/** The value of a result; throws what it failed with. */
function orThrow<T>(result: Result<T, Failure>): T {
  if (result.isErr()) throw toError(result.error);
  return result.value;
}

// Output:
// lease.acquisitions {"lease.guarded":true,"lease.provisional":false}: 2
// lease.refusals {"verdict":"live","reason":"claim-registered"}: 1
// lease.releases {"lease.provisional":false}: 1
// stage.changes {"stage.from":"deploy","stage.to":"done","stage.fenced":true}: 1
// effect.starts {"effect.name":"merge_pr"}: 1
// effect.applications {"effect.name":"merge_pr","by":"apply"}: 1
// lease.held {"verdict":"live"}: 1
// lease.hold.duration {"hold.outcome":"released"}: 1 measured
// lease.wait.duration {}: 1 measured
// effect.duration {"effect.name":"merge_pr","effect.outcome":"applied"}: 1 measured
// the spans:
// effect, applied: nothing noted
// hold, released: stage.changed
// hold, released: nothing noted
