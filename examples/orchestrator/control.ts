/**
 * The strings by which the demo moves this process, over the channel that `fork` gives it. A process that was
 * started in any other way has no channel: its points hold nobody, and its roles tick by a clock.
 */

/** What the demo says: stop at a point, once; go on from it; run one tick of a role. */
export type Command = { readonly hold: string } | { readonly go: true } | { readonly tick: string };

/** What the roles of a process do when they are told to. */
export type Roles = Readonly<Record<string, () => Promise<unknown>>>;

const held = new Set((process.env['HOLD_AT'] ?? '').split(','));
let goOn = (): void => {};

/** True if the demo started this process. */
export const isDirected = process.send !== undefined;

/** Tells the demo, if it is still there. */
export function say(message: object): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** Says where this process is and waits for the word to go on, if somebody wants it held there. */
export async function point(name: string): Promise<void> {
  if (!held.delete(name)) return;
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  say({ at: name });
  await told;
}

/** From now on does what the demo says. */
export function obey(roles: Roles): void {
  process.on('message', (command: Command) => {
    if ('hold' in command) held.add(command.hold);
    else if ('go' in command) goOn();
    else void roles[command.tick]?.().then((report) => say({ ticked: command.tick, report }));
  });
}

/** Runs every role again and again, each tick after the end of its last. Returns how to stop. */
export function keepTime(roles: Roles, everyMs: number): () => void {
  const timers = Object.values(roles).map((tick) => {
    let running: Promise<unknown> | undefined;
    return setInterval(() => {
      running ??= tick().finally(() => {
        running = undefined;
      });
    }, everyMs);
  });
  return () => timers.forEach((timer) => clearInterval(timer));
}
