import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { follow } from '../../src/holding/followers.js';
import { LeaseSignal } from '../../src/holding/lease-signal.js';

describe('follow', () => {
  test('listens once to a signal that many leases follow, and tells all of them', () => {
    const shutdown = new AbortController();
    const signals = Array.from({ length: 40 }, () => new LeaseSignal());
    for (const signal of signals) signal.follow(shutdown.signal);
    expect(getEventListeners(shutdown.signal, 'abort')).toHaveLength(1);
    const reason = new Error('shutting down');
    shutdown.abort(reason);
    expect(signals.map(({ signal }) => signal.reason as unknown)).toEqual(signals.map(() => reason));
    expect(getEventListeners(shutdown.signal, 'abort')).toEqual([]);
  });

  test('listens no more once the last has let go, and again for the next', () => {
    const shutdown = new AbortController();
    const told: string[] = [];
    const [first, second] = ['first', 'second'].map((name) => follow(shutdown.signal, () => void told.push(name)));
    first?.();
    first?.();
    expect(getEventListeners(shutdown.signal, 'abort')).toHaveLength(1);
    second?.();
    expect(getEventListeners(shutdown.signal, 'abort')).toEqual([]);
    follow(shutdown.signal, () => void told.push('third'));
    first?.();
    second?.();
    shutdown.abort();
    expect(told).toEqual(['third']);
  });

  test('a follower that lets another go in the midst, or itself, is no harm', () => {
    const shutdown = new AbortController();
    const told: string[] = [];
    const ends: (() => void)[] = [];
    for (const name of ['first', 'second']) {
      ends.push(
        follow(shutdown.signal, () => {
          told.push(name);
          for (const end of ends) end();
        }),
      );
    }
    shutdown.abort();
    expect(told).toEqual(['first', 'second']);
    expect(getEventListeners(shutdown.signal, 'abort')).toEqual([]);
  });

  test('a lease that is over is held by nothing, also where its signal is still listened to; AbortSignal.any holds it', async () => {
    const shutdown = new AbortController();
    const listened = (made: AbortSignal): WeakRef<AbortSignal> => {
      made.addEventListener('abort', () => {});
      return new WeakRef(made);
    };
    const ours = Array.from({ length: 100 }, () => {
      const lease = new LeaseSignal();
      lease.follow(shutdown.signal);
      const kept = listened(lease.signal);
      lease.unfollow();
      return kept;
    });
    const any = Array.from({ length: 100 }, () => listened(AbortSignal.any([shutdown.signal])));
    await collectGarbage();
    expect(ours.filter((kept) => kept.deref() !== undefined)).toHaveLength(0);
    // The reason why a follower is code of ours. Where this is no more, so are the followers.
    expect(any.filter((kept) => kept.deref() !== undefined)).toHaveLength(100);
  });
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let times = 0; times < 3; times += 1) {
    await turn();
    collect();
  }
}
