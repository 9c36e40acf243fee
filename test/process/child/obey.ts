import { hear, say } from './line.js';

/** Does what the test tells, one JSON line a command, until the test says `leave` or is gone. */
export async function obey(commands: object): Promise<void> {
  const table = commands as Readonly<Record<string, (argument: unknown) => unknown>>;
  const answer = async ({ id, command, argument }: { id: number; command: string; argument: unknown }) => {
    try {
      say({ id, answer: (await table[command]?.(argument)) ?? null });
    } catch (thrown) {
      say({ id, thrown });
    }
  };
  for (let line = await hear(); line !== null && line !== 'leave'; line = await hear()) {
    void answer(JSON.parse(line) as Parameters<typeof answer>[0]);
  }
}

/** What this program was asked to be. */
export function argument(): unknown {
  return JSON.parse(process.argv[2] ?? '{}');
}
