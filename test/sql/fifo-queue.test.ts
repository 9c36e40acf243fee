import { describe, expect, test } from 'vitest';
import { FifoQueue } from '../../src/sql/fifo-queue.js';

describe('FifoQueue', () => {
  test('gives back in the order in which they came, thousands too, whenever others join', () => {
    const queue = new FifoQueue<number>();
    const taken: (number | undefined)[] = [];
    for (let at = 0; at < 5_000; at += 1) {
      queue.push(at);
      if (at % 3 === 2) taken.push(queue.shift());
    }
    while (queue.first !== undefined) taken.push(queue.shift());
    expect(taken).toEqual(Array.from({ length: 5_000 }, (_, at) => at));
    expect(queue.shift()).toBeUndefined();
  });

  test('gives back those that are chosen, and keeps the others in their order', () => {
    const queue = new FifoQueue<number>();
    for (let at = 0; at < 10; at += 1) queue.push(at);
    queue.shift();
    expect(queue.takeWhere((item) => item % 2 === 0)).toEqual([2, 4, 6, 8]);
    queue.push(10);
    expect(Array.from({ length: 7 }, () => queue.shift())).toEqual([1, 3, 5, 7, 9, 10, undefined]);
  });
});
