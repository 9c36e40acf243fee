import { recoverOnStartup } from 'transition-ownership';
import { expect, test } from 'vitest';
import { prove, proveOn } from '../job/proofs.js';
import { countingStore, sqliteStore } from '../job/stores.js';
import { openYard } from '../job/yard.js';
import { killed, recovering } from './recovering.js';
import { bare, journalled } from './ruins.js';

prove('recovery', 'recovery', recovering);
for (const store of [sqliteStore, countingStore]) proveOn(store, 'recovery', killed, {});

test('recoverOnStartup refuses a request of the wrong shape, and a transaction, before any statement', async () => {
  await using yard = await openYard(sqliteStore);
  const worker = yard.start('a');
  const own = journalled(worker);
  const recover = (request: unknown) => () => recoverOnStartup(own, request as { jobs: 'all' });
  expect(recover(undefined)).toThrow(new TypeError('request must be an object, got undefined'));
  expect(recover({})).toThrow(new RangeError('jobs must be "all" or "dead-only", got undefined'));
  expect(recover({ jobs: 'dead' })).toThrow(new RangeError('jobs must be "all" or "dead-only", got "dead"'));
  expect(recover({ jobs: 'all', dryRun: 1 })).toThrow(new TypeError('dryRun must be a boolean, got 1'));
  expect(recover({ jobs: 'all', probes: 7 })).toThrow(new TypeError('probes must be an object, got 7'));
  expect(recover({ jobs: 'all', probes: { merge_pr: null } })).toThrow(
    new TypeError('probes.merge_pr must be a function, got null'),
  );
  expect(() => recoverOnStartup(bare(worker), { jobs: 'some' } as unknown as { jobs: 'all' })).toThrow(RangeError);
  await worker.db.transaction().execute(async (trx) => {
    expect(() => recoverOnStartup(own.using(trx), { jobs: 'all' })).toThrow(
      new TypeError('recover needs the ownership itself, not one made by using(trx)'),
    );
  });
  expect(worker.wire.sent.every(({ sql }) => /^(begin|commit)/.test(sql))).toBe(true);
});
