import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Commands, commandsOf } from '../child/commands.js';
import { argument, obey } from '../child/obey.js';
import type { Setup } from '../child/setup.js';

/** A process of several threads, each an orchestrator of its own over the same file. */
const setup = argument() as Setup;
const threads = new Map<string, Worker>();

function threadOf(name: string): Worker {
  const thread = threads.get(name) ?? new Worker(new URL('thread.mjs', import.meta.url), { workerData: setup });
  threads.set(name, thread);
  return thread;
}

interface Order {
  readonly thread: string;
  readonly command: keyof Commands;
  readonly argument?: unknown;
}

const commands = {
  ...commandsOf(setup),
  /** Has a thread run a command; starts the thread if it is new. */
  async inThread({ thread: name, ...order }: Order): Promise<unknown> {
    const thread = threadOf(name);
    thread.postMessage(order);
    const [answer] = (await once(thread, 'message')) as [string];
    return JSON.parse(answer);
  },
  terminate: ({ thread }: { thread: string }) => threadOf(thread).terminate(),
};

/** What a test can have it do. */
export type ThreadCommands = typeof commands;

await obey(commands);
