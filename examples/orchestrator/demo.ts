import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import pc from 'picocolors';
import { ensureSchema } from 'transition-ownership';
import { createTables } from './database.js';
import { frozenOwner } from './demo/frozen-owner.js';
import { killedOwner } from './demo/killed-owner.js';
import { checkPromises, readEvidence } from './demo/promises.js';
import { race } from './demo/race.js';
import { Story } from './demo/story.js';
import { openOrchestrator } from './orchestrator.js';

/** `npm run demo`: real processes, real signals, and promises that are checked; `OWNERSHIP_MODE=off` breaks them. */
const begun = performance.now();
const story = new Story({
  colors: isatty(1) && pc.isColorSupported,
  write: (line) => process.stdout.write(`${line}\n`),
});
const directory = mkdtempSync(join(tmpdir(), 'orchestrator-'));
const orchestrator = openOrchestrator(directory, () => {});
const { db, ownership } = orchestrator;

async function addTask(repo: string): Promise<number> {
  const sha = `${repo}-commit`;
  const added = db.insertInto('tasks').values({ repo, sha, stage: 'deploy-staging' }).returning('id');
  return (await added.executeTakeFirstOrThrow()).id;
}

await createTables(db);
(await ensureSchema(ownership))._unsafeUnwrap();
story.title('An orchestrator, its actors in processes of their own, and what can go wrong with them');

const [web, api] = [await addTask('web'), await addTask('api')];
const scene = { directory, story };
await race(scene, web);
await killedOwner(scene, web);
await frozenOwner(scene, api);

story.heading('The log of the outside world');
for (const step of orchestrator.outside.applied()) story.effect(step);
story.heading('The promises, checked against that log and the database alone');
const promises = checkPromises(await readEvidence(orchestrator));
for (const promise of promises) story.promise(promise);
const broken = promises.filter((promise) => promise.broken.length > 0).length;
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
story.heading(broken === 0 ? `All kept, in ${seconds} s.` : `${broken} of ${promises.length} broken, in ${seconds} s.`);

await db.destroy();
rmSync(directory, { recursive: true });
if (broken > 0) process.exitCode = 1;
