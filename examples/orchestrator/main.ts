import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ensureSchema } from 'transition-ownership';
import { orThrow } from '../shared/or-throw.js';
import { isDirected, keepTime, obey, point, say } from './control.js';
import { createTables } from './database.js';
import { openOrchestrator } from './orchestrator.js';
import { makeReaper } from './reaper.js';
import { reconcile } from './reconciler.js';
import { recover } from './recovery.js';
import { alertSink, type Listener, lessonsJournal } from './sinks.js';
import { serve } from './web/server.js';
import { makeWorker } from './worker.js';

/** One orchestrator, whole: `tsx main.ts [directory]`, then look at the address that it prints. */
const [directory = '.orchestrator'] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });

const wake = (text: string) => process.stderr.write(`ALERT ${text}\n`);
const listeners: readonly Listener[] = [
  alertSink(wake),
  lessonsJournal(join(directory, 'lessons.log')),
  (event) => say({ event }),
];
const orchestrator = openOrchestrator(directory, (event) => listeners.forEach((listen) => listen(event)));
const { db, ownership } = orchestrator;

const worker = makeWorker(orchestrator);
const reaper = makeReaper(orchestrator);
const roles = {
  worker: () => worker.tick(),
  reaper: async () => (await reaper.tick()).unwrapOr(null),
  reconciler: () => reconcile(orchestrator),
};

// The order matters: tables, then recovery, and only then whatever takes new work.
await createTables(db);
orThrow(await ensureSchema(ownership));
obey(roles);
await point('recovery');
const { held } = await recover(orchestrator);
for (const taskId of held) wake(`task ${taskId} is held: nobody can tell whether its last step was taken`);
const server = await serve(orchestrator, { port: Number(process.env['PORT'] ?? 8080) });
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}`;
const stop = isDirected ? () => {} : keepTime(roles, Number(process.env['TICK_MS'] ?? 500));
if (isDirected) say({ ready: { url } });
else process.stdout.write(`${url}\n`);

for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(signal, () => void leave());

/** Stops taking work, lets the handlers end, gives the leases back. */
async function leave(): Promise<void> {
  stop();
  server.leave();
  server.close();
  await worker.idle();
  void (await ownership.close());
  await db.destroy();
}
