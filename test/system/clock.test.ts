import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/system/clock.js';

/** How many timers keep this process alive. */
const keeping = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('systemClock', () => {
  test('a scheduled call keeps the process alive where it is asked to, and else not', () => {
    const before = keeping();
    const calls = [systemClock.schedule(60_000, () => {}), systemClock.schedule(60_000, () => {}, { keepAlive: true })];
    expect(keeping()).toBe(before + 1);
    for (const call of calls) call.cancel();
    expect(keeping()).toBe(before);
  });

  test('a turn of the event loop lets timers run that are due', async () => {
    let ran = false;
    setTimeout(() => {
      ran = true;
    }, 1);
    const untilMs = performance.now() + 5;
    while (performance.now() < untilMs);
    for (let turn = 0; turn < 2; turn += 1) await systemClock.turn?.();
    expect(ran).toBe(true);
  });
});
