import { storeFailure } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { inspectValue } from '../core/inspect-value.js';
import type { NamedTable } from '../dialect/dialect.js';
import type { OwnTable } from '../sql/schema-statements.js';

/** Another's table stands where ours should: it is never altered. */
export function notOurs({ table }: OwnTable, lacking: string): StoreFailure {
  return wrong(
    `the table ${inspectValue(table)} is there already and is not the library’s: it has no column ${inspectValue(lacking)}`,
  );
}

/** A table that no upgrade left stands where one would be built. */
export function inTheWay({ table }: NamedTable): StoreFailure {
  return wrong(`the table ${inspectValue(table)} is in the way of an upgrade: give it another name`);
}

/** A table of that name is there already, and its columns cannot be read. */
export function hidden({ table }: OwnTable): StoreFailure {
  return wrong(`the table ${inspectValue(table)} is there, and this user of the database may not look at it`);
}

function wrong(what: string): StoreFailure {
  return storeFailure({ kind: 'schema', retryable: false, outcome: 'not-applied', cause: new Error(what) });
}
