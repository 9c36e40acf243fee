/**
 * Places where the demo stops a process, to kill or freeze it there: `HOLD_AT="merge_pr applied"`, each once.
 * In service nobody sets it, and a point costs one look into an empty set.
 */
const held = new Set((process.env['HOLD_AT'] ?? '').split(',').filter((name) => name !== ''));

/** Says where this process is and waits for the word to go on, if somebody asked for that. */
export async function point(name: string): Promise<void> {
  if (!held.delete(name)) return;
  const told = new Promise<void>((resolve) => {
    const listen = (message: unknown) => {
      if (message !== 'go') return;
      process.off('message', listen);
      resolve();
    };
    process.on('message', listen);
  });
  process.send?.({ at: name });
  await told;
}
