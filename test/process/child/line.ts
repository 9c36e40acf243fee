import { read, writeSync } from 'node:fs';

const chunk = Buffer.alloc(65_536);
let rest = '';

/** Tells the test something, at once: a SIGKILL that follows cannot swallow it. */
export function say(told: object): void {
  writeSync(1, `${JSON.stringify(told, plain)}\n`);
}

/** The next word of the test; `null` once the test is gone. A pending call keeps the process alive. */
export async function hear(): Promise<string | null> {
  for (;;) {
    const line = take();
    if (line !== null) return line;
    const bytes = await new Promise<number>((resolve, reject) => {
      read(0, chunk, 0, chunk.length, null, (error, count) => (error === null ? resolve(count) : reject(error)));
    });
    if (bytes === 0) return null;
    rest += chunk.toString('utf8', 0, bytes);
  }
}

/** Stops this process here until the test sends SIGCONT; no timer and no promise runs before the caller goes on. */
export function standStill(): void {
  say({ said: 'standing still' });
  process.kill(process.pid, 'SIGSTOP');
  // The signal lands while the thread waits here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
}

function take(): string | null {
  const end = rest.indexOf('\n');
  if (end === -1) return null;
  const line = rest.slice(0, end);
  rest = rest.slice(end + 1);
  return line;
}

/** Errors have no fields of their own that JSON would show. */
function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { name: value.name, message: value.message, code: (value as NodeJS.ErrnoException).code };
}
