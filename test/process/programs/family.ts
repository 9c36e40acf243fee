import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { commandsOf } from '../child/commands.js';
import { argument, obey } from '../child/obey.js';
import type { Setup } from '../child/setup.js';

/**
 * A parent that has made its identity before it starts children: two by `cluster`, one by `fork`. All inherit its
 * environment and arguments; all contend for one task.
 */
const setup = argument() as Setup;
const commands = commandsOf(setup);
const inherited = process.env['FAMILY'] !== undefined;

async function contend() {
  const { bootId, pid } = await commands.identity();
  const acquired = await commands.acquire({ taskId: 1, actor: 'monitor' });
  return { bootId, pid, won: 'ok' in acquired };
}

const family = {
  schema: () => commands.schema(),
  /** The contention of the whole family, parent first. */
  async contend() {
    const parent = await contend();
    process.env['FAMILY'] = parent.bootId;
    cluster.setupPrimary({ silent: true });
    const children = [
      cluster.fork().process,
      cluster.fork().process,
      fork(process.argv[1] ?? '', process.argv.slice(2), { silent: true }),
    ];
    const answers = await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) child.kill('SIGKILL');
    return [parent, ...answers.map(([answer]) => answer as Awaited<ReturnType<typeof contend>>)];
  },
};

/** What a test can have it do. */
export type FamilyCommands = typeof family;

if (inherited) process.send?.(await contend());
else await obey(family);
