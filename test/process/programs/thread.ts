import { parentPort, workerData } from 'node:worker_threads';
import { commandsOf } from '../child/commands.js';
import type { Setup } from '../child/setup.js';

/** One thread of `threads.ts`: runs the commands that the main thread hands on. */
const commands = commandsOf(workerData as Setup) as unknown as Readonly<Record<string, (argument: unknown) => unknown>>;

parentPort?.on('message', ({ command, argument }: { command: string; argument: unknown }) => {
  void (async () => {
    const answer: unknown = await commands[command]?.(argument);
    parentPort?.postMessage(JSON.stringify(answer ?? null));
  })();
});
