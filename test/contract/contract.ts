import { describe } from 'vitest';
import { checks } from './chapters/checks.js';
import { holding } from './chapters/holding.js';
import { identifiers } from './chapters/identifiers.js';
import { leases } from './chapters/leases.js';
import { manyLeases } from './chapters/many-leases.js';
import { operators } from './chapters/operators.js';
import { schema } from './chapters/schema.js';
import { stages } from './chapters/stages.js';
import { killSwitch } from './chapters/switch.js';
import { times } from './chapters/times.js';
import { transactions } from './chapters/transactions.js';
import { siteOf } from './site.js';
import type { ContractStore } from './store.js';

/** The whole promise of the library, on one kind of database by one driver. */
export function contract(store: ContractStore): void {
  describe.skipIf(store.missing !== undefined)(store.name, () => {
    const site = siteOf(store);
    checks(site);
    schema(site);
    leases(site);
    manyLeases(site);
    stages(site);
    holding(site);
    transactions(site);
    killSwitch(site);
    operators(site);
    identifiers(site);
    times(site);
  });
}
