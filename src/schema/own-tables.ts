import type { Settings } from '../context.js';
import type { Dialect } from '../dialect/dialect.js';
import type { TableShape } from '../dialect/table-shape.js';
import type { OwnTable } from '../sql/schema-statements.js';
import { effectTable, LEASE_ALWAYS, leaseBackfill, leaseTable } from '../sql/tables.js';

/** The tables that the library keeps for an ownership, that of the leases first. */
export function ownTables(settings: Settings, dialect: Dialect): readonly [OwnTable, ...OwnTable[]] {
  const { timing, taskIdType, runIdType, leaseTable: named, effectTable: journal } = settings;
  const column = (type: typeof taskIdType) => (type === 'text' ? 'text' : 'integer');
  return [
    {
      ...named,
      shape: leaseTable(column(taskIdType), column(runIdType)),
      always: LEASE_ALWAYS,
      backfill: leaseBackfill(dialect, timing.ttlMs),
    },
    ...(journal === undefined ? [] : [{ ...journal, ...inOneShape(effectTable(column(taskIdType))) }]),
  ];
}

/** A table that never had another shape. */
function inOneShape(shape: TableShape): Pick<OwnTable, 'shape' | 'always' | 'backfill'> {
  return { shape, always: shape.columns.map(({ name }) => name), backfill: {} };
}
