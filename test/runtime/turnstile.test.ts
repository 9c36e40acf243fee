import { describe, expect, test } from 'vitest';
import { Turnstile } from '../../src/runtime/turnstile.js';

/** Work that ends when it is told to. */
function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Lets everything run that can. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Turnstile', () => {
  test('lets one at a time through, in the order in which they came', async () => {
    const turnstile = new Turnstile();
    const gates = [gate(), gate(), gate()];
    const entered: number[] = [];
    const passed = gates.map(({ opened }, at) =>
      turnstile.pass(() => {
        entered.push(at);
        return opened;
      }),
    );
    for (const [at, { open }] of gates.entries()) {
      await settle();
      expect(entered).toEqual([0, 1, 2].slice(0, at + 1));
      open();
    }
    await Promise.all(passed);
  });

  test('lets nobody overtake who comes while the next one is on its way in', async () => {
    const turnstile = new Turnstile();
    const entered: string[] = [];
    const enter = (name: string) => turnstile.pass(() => Promise.resolve(void entered.push(name)));
    const { open, opened } = gate();
    const first = turnstile.pass(() => opened);
    const waited = enter('waited');
    // Comes after the first has left, and before the one that it woke has run.
    const late = opened.then(() => enter('came late'));
    open();
    await Promise.all([first, waited, late]);
    expect(entered).toEqual(['waited', 'came late']);
  });

  test('goes on when work fails, and tells only the one whose work it was', async () => {
    const turnstile = new Turnstile();
    const failed = turnstile.pass(() => Promise.reject(new Error('the disk is full')));
    const next = turnstile.pass(() => Promise.resolve('through'));
    await expect(failed).rejects.toThrow('the disk is full');
    expect(await next).toBe('through');
    expect(await turnstile.pass(() => Promise.resolve('free again'))).toBe('free again');
  });

  test('lets thousands through without forgetting one', async () => {
    const turnstile = new Turnstile();
    const numbers = Array.from({ length: 5_000 }, (_, at) => at);
    const entered: number[] = [];
    await Promise.all(numbers.map((at) => turnstile.pass(() => Promise.resolve(void entered.push(at)))));
    expect(entered).toEqual(numbers);
  });
});
