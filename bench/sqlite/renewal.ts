import { createHook } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { acquireLeases, releaseLeases } from 'transition-ownership';
import { requests } from '../batches.js';
import { ownershipOn } from '../ownership.js';
import { atMost, type Line } from '../report.js';
import type { Workshop } from './database.js';

const HELD = 5_000;
/** The first renewal comes when all are held, and soon enough to be waited for. */
const TIMES = { ttlMs: 30_000, renewEveryMs: 3_000 };

/** What holding costs: timers and statements, counted. */
export async function renewal(shop: Workshop): Promise<readonly Line[]> {
  const wakeful = setInterval(() => undefined, 60_000); // The library's own timers keep no process alive.
  const timers = countTimers();
  const before = await timers.running();
  let statements = 0;
  let seen = (): void => undefined;
  const tick = new Promise<void>((resolve) => {
    seen = countdown(HELD, resolve);
  });
  const onQuery = (): void => {
    statements += 1;
  };
  const db = await shop.kept(shop.file(), 'normal', { onQuery });
  const ownership = await ownershipOn(db, {
    lease: TIMES,
    onEvent: ({ type }) => {
      if (type === 'lease.renewed') seen();
    },
  });
  const idleBefore = (await timers.running()) - before;
  const { acquired } = (await acquireLeases(ownership, requests(HELD)))._unsafeUnwrap();
  const held = (await timers.running()) - before;
  statements = 0;
  await tick;
  const aTick = statements;
  (await releaseLeases(ownership, acquired))._unsafeUnwrap();
  const idleAfter = (await timers.running()) - before;
  timers.stop();
  clearInterval(wakeful);
  const idle = Math.max(idleBefore, idleAfter);
  const what = `${HELD.toLocaleString('en')} held leases`;
  return [
    { what: `${what}: timers`, figure: `${held}`, bar: '= 1', met: held === 1 },
    { what: `${what}: statements in a renewal of all`, figure: `${aTick}`, ...atMost(aTick, 10) },
    { what: 'no lease held, before and after: timers', figure: `${idle}`, bar: '= 0', met: idle === 0 },
  ];
}

function countdown(from: number, done: () => void): () => void {
  let left = from;
  return () => {
    left -= 1;
    if (left === 0) done();
  };
}

/** Counts the native timers that were made since and are still running, whoever made them. */
function countTimers(): { running: () => Promise<number>; stop: () => void } {
  const running = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && running.add(id)),
    destroy: (id) => void running.delete(id),
  }).enable();
  const settle = async (): Promise<number> => {
    await setImmediate(); // Node tells of a cleared timer a turn later.
    return running.size;
  };
  return { running: settle, stop: () => void hook.disable() };
}
