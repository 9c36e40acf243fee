import { describe, expect, test } from 'vitest';
import { inFlight } from '../../src/core/in-flight.js';

describe('underWay', () => {
  test('keeps work while it goes on, and no longer when its caller hears of its end', async () => {
    const running = new Set<Promise<unknown>>();
    const work = inFlight(running, Promise.resolve('done'));
    expect(running.size).toBe(1);
    expect(await work).toBe('done');
    expect(running.size).toBe(0);
  });

  test('lets go of work that fails, whose failure only its caller hears', async () => {
    const running = new Set<Promise<unknown>>();
    const work = inFlight(running, Promise.reject(new Error('the handler threw')));
    await expect(work).rejects.toThrow('the handler threw');
    expect(running.size).toBe(0);
  });
});
