import { describe } from 'vitest';
import { leases } from './chapters/leases.js';
import { manyLeases } from './chapters/many-leases.js';
import { stages } from './chapters/stages.js';
import { siteOf } from './site.js';
import type { ContractStore } from './store.js';

/** The whole promise of the library, on one kind of database by one driver. */
export function contract(store: ContractStore): void {
  describe.skipIf(store.missing !== undefined)(store.name, () => {
    const site = siteOf(store);
    leases(site);
    manyLeases(site);
    stages(site);
  });
}
