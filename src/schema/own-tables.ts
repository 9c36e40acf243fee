import type { Settings } from '../context.js';
import type { Dialect } from '../dialect/dialect.js';
import type { OwnTable } from '../sql/schema-statements.js';
import { effectTable, leaseBackfill, leaseTable } from '../sql/tables.js';

/** The tables that the library keeps for an ownership, that of the leases first. */
export function ownTables(settings: Settings, dialect: Dialect): readonly [OwnTable, ...OwnTable[]] {
  const { timing, taskIdType, runIdType, leaseTable: named, effectTable: journal } = settings;
  const column = (type: typeof taskIdType) => (type === 'text' ? 'text' : 'integer');
  return [
    {
      ...named,
      shape: leaseTable(column(taskIdType), column(runIdType)),
      backfill: leaseBackfill(dialect, timing.ttlMs),
    },
    ...(journal === undefined ? [] : [{ ...journal, shape: effectTable(column(taskIdType)), backfill: {} }]),
  ];
}
