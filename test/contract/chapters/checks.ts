import { checkDialect } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import type { Site } from '../site.js';

/** The check of driver, database and settings. */
export function checks(site: Site): void {
  describe('checkDialect', () => {
    test('finds nothing wrong with this driver, whatever the ids are, and leaves no row behind', async () => {
      const { ownership, bigOwnership, textOwnership, told } = site.process();
      for (const report of [
        await checkDialect(ownership),
        await checkDialect(bigOwnership),
        await checkDialect(textOwnership),
      ]) {
        expect(report._unsafeUnwrap().findings.filter(({ severity }) => severity === 'error')).toEqual([]);
      }
      expect([
        ...(await site.leases()),
        ...(await site.leases('big_lease')),
        ...(await site.leases('text_lease')),
      ]).toEqual([]);
      expect(told('store.failed')).toEqual([]);
    });

    test('may be run by many at once', async () => {
      const asked = Array.from({ length: 4 }, () => checkDialect(site.process().ownership));
      for (const report of await Promise.all(asked)) {
        expect(report._unsafeUnwrap().findings.filter(({ severity }) => severity === 'error')).toEqual([]);
      }
    });

    test('refuses a transaction', async () => {
      const { db, ownership } = site.process();
      await db.transaction().execute(async (trx) => {
        expect(() => checkDialect(ownership.using(trx))).toThrow(TypeError);
      });
    });
  });
}
