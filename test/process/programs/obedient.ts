import { commandsOf } from '../child/commands.js';
import { hear, say } from '../child/line.js';
import type { Setup } from '../child/setup.js';

/** A process that does what the test tells it, one JSON line a command, until the test says `leave` or is gone. */
const commands: Readonly<Record<string, (argument: never) => unknown>> = commandsOf(
  JSON.parse(process.argv[2] ?? '{}') as Setup,
);

async function answer({ id, command, argument }: { id: number; command: string; argument: never }): Promise<void> {
  try {
    say({ id, answer: (await commands[command]?.(argument)) ?? null });
  } catch (thrown) {
    say({ id, thrown });
  }
}

for (let line = await hear(); line !== null && line !== 'leave'; line = await hear()) {
  void answer(JSON.parse(line) as Parameters<typeof answer>[0]);
}
