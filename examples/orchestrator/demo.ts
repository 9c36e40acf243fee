import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import pc from 'picocolors';
import { ensureSchema } from 'transition-ownership';
import { orThrow } from '../shared/or-throw.js';
import { createTables } from './database.js';
import { assemble } from './demo/crew.js';
import { frozenOwner } from './demo/frozen-owner.js';
import { impossibleJob } from './demo/impossible-job.js';
import { killedOwner } from './demo/killed-owner.js';
import { oneOwner } from './demo/one-owner.js';
import { operatorRelease } from './demo/operator.js';
import { checkPromises, readEvidence } from './demo/promises.js';
import { Story } from './demo/story.js';
import { twoRecoveries } from './demo/two-recoveries.js';
import { openOrchestrator } from './orchestrator.js';
import { readLines, readLog } from './outside.js';

/** `npm run demo`: real processes, real signals, and promises that are checked; `OWNERSHIP_MODE=off` breaks them. */
const begun = performance.now();
process.once('SIGINT', () => process.exit(130)); // and with it every child
const story = new Story({
  colors: isatty(1) && pc.isColorSupported,
  write: (line) => process.stdout.write(`${line}\n`),
});
const directory = mkdtempSync(join(tmpdir(), 'orchestrator-'));
const orchestrator = openOrchestrator(directory, () => {});
const { db, ownership } = orchestrator;

await createTables(db);
orThrow(await ensureSchema(ownership));
story.title('An orchestrator, its actors in processes of their own, and what can go wrong with them');

const crew = await assemble(directory, story);
await oneOwner(crew);
if (process.env['OWNERSHIP_MODE'] !== 'off') {
  await killedOwner(crew);
  await twoRecoveries(crew);
  await impossibleJob(crew, orchestrator);
  await operatorRelease(crew);
  await frozenOwner(crew);
}
await Promise.all([crew.web, crew.reaper, crew.reconciler, crew.monitor].map((child) => child.leave()));

story.heading('The log of the outside world: each step, and the fencing token under which it was taken');
const applied = readLog(join(directory, 'effects.log'));
const evidence = await readEvidence(orchestrator, applied);
for (const { id } of evidence.tasks) story.steps(applied.filter(({ taskId }) => taskId === id));
story.heading('The lessons journal, as the next shift finds it');
for (const line of readLines(join(directory, 'lessons.log'))) story.lesson(line);
story.heading('The promises, checked against that log and the database alone');
const promises = checkPromises(evidence);
for (const promise of promises) story.promise(promise);
const broken = promises.filter((promise) => promise.broken.length > 0).length;
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
story.heading(broken === 0 ? `All kept, in ${seconds} s.` : `${broken} of ${promises.length} broken, in ${seconds} s.`);

await db.destroy();
rmSync(directory, { recursive: true });
if (broken > 0) process.exitCode = 1;
