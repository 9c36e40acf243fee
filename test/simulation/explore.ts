import { parseArgs } from 'node:util';
import { fuzz, memoryStore, type Scenario } from 'transition-ownership/testing';
import { compareReductions } from './differential.js';
import { type Cells, migrate } from './random-programs.js';
import { scenarios } from './scenarios.js';
import { always, stores, type Tables } from './yard.js';

// npm run explore -- --seconds 600 [--seed 1] [--programs]
// Walks at random through schedules that are too many to go through one by one: the scenarios with more of every fault.
// With --programs it compares the searches with each other instead: random programs, whole and reduced.

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    programs: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const firstSeed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isFinite(seconds) || seconds <= 0) throw new RangeError(`--seconds must be above 0, got ${values.seconds}`);
if (!Number.isSafeInteger(firstSeed)) throw new RangeError(`--seed must be a whole number, got ${values.seed ?? ''}`);

/** Only what holds whatever befalls: what a scenario says besides holds under its own faults. */
const harder = ({ faults, finally: _, invariant, ...scenario }: Scenario<Tables>): Scenario<Tables> => ({
  ...scenario,
  invariant: always.filter((rule) => [invariant].flat().includes(rule)),
  faults: {
    ...faults,
    crashes: 2,
    restarts: 2,
    lostReplies: 1,
    failures: 1,
    clockJumps: 2,
    jumpsMs: 'expiries',
    timers: 4,
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.programs) {
  const cells = memoryStore<Cells>({ migrate });
  const { programs, disagreements } = await compareReductions(cells, { firstSeed, maxMs: seconds * 1_000 });
  await cells.close();
  say(`${String(programs)} programs from seed ${String(firstSeed)}, ${String(disagreements.length)} disagreed`);
  for (const each of disagreements) process.stderr.write(`${JSON.stringify(each)}\n`);
  process.exit(Math.min(1, disagreements.length));
}

const store = stores.memory();
const untilMs = performance.now() + seconds * 1_000;
const walked = new Map<string, number>();
let failures = 0;
for (let round = 0; performance.now() < untilMs && failures === 0; round += 1) {
  for (const { proves, scenario } of scenarios) {
    if (performance.now() >= untilMs || failures > 0) break;
    const report = await fuzz(store, harder(scenario), { seed: firstSeed + round, runs: 100 });
    walked.set(proves, (walked.get(proves) ?? 0) + report.schedules);
    if (report.failure === undefined || report.failure.token === '') continue;
    failures += 1;
    process.stderr.write(`\n${proves}, with seed ${String(firstSeed + round)}:\n\n${report.failure.message}\n\n`);
  }
}
await store.close();

for (const [proves, schedules] of walked) say(`${String(schedules).padStart(9)}  ${proves}`);
const total = [...walked.values()].reduce((sum, schedules) => sum + schedules, 0);
say(
  `${String(total).padStart(9)}  schedules in ${String(seconds)} s from seed ${String(firstSeed)}, ${String(failures)} failed`,
);
process.exitCode = failures;
