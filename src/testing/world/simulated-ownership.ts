import type { Kysely } from 'kysely';
import {
  type AnyTasks,
  createTransitionOwnership,
  type Dialect,
  type IdType,
  type JobsOption,
  mysqlDialect,
  type OwnershipEvent,
  postgresDialect,
  sqliteDialect,
} from '../../index.js';
import type { CreateOwnership, SimulatedOwnershipOptions } from './create-ownership.js';
import type { Incarnation } from './incarnation.js';
import type { Process } from './process.js';
import type { WorldState } from './state.js';

/** The two kinds of event that become facts: together they tell who owned and who wrote. */
const noted: readonly OwnershipEvent['type'][] = ['lease.acquired', 'stage.changed'];

/** The `createOwnership` of one incarnation. */
export function ownershipMaker<DB>(
  state: Pick<WorldState<DB>, 'store'>,
  self: Incarnation,
  process: Process<DB>,
): CreateOwnership<DB> {
  return <
    const Tasks extends AnyTasks,
    TaskIdType extends IdType,
    RunIdType extends IdType,
    const Jobs extends JobsOption | undefined,
  >(
    options: SimulatedOwnershipOptions<DB, Tasks, TaskIdType, RunIdType, Jobs>,
  ) => {
    const { clock, identity, processes, registry, randomness } = process.ports;
    const listen = options.onEvent;
    return createTransitionOwnership<DB, Tasks, TaskIdType, RunIdType, Jobs>({
      // A look at the catalogue is no step that schedules differ by.
      survey: 'off',
      ...options,
      db: process.db,
      dialect: virtualTime(state, options.dialect, process.db),
      clock,
      identity,
      processes,
      registry,
      randomness,
      onEvent(event) {
        if (noted.includes(event.type))
          process.ghost({ event: event.type, ...event, severity: undefined, type: undefined });
        if (self.alive) listen?.(event);
      },
    });
  };
}

const shipped = Object.freeze({ sqlite: sqliteDialect, postgres: postgresDialect, mysql: mysqlDialect });

/** The chosen dialect with the virtual clock in place of the database's own. */
function virtualTime<DB>(
  { store }: Pick<WorldState<DB>, 'store'>,
  chosen: Dialect | keyof typeof shipped | undefined,
  db: Kysely<DB>,
): Dialect {
  const dialect = typeof chosen === 'object' ? chosen : shipped[chosen ?? spellingOf(db)];
  return Object.freeze({ ...dialect, nowMs: store.nowMs });
}

/** Told as the library tells it: by how the database spells its first parameter. */
function spellingOf<DB>(db: Kysely<DB>): keyof typeof shipped {
  const probe = db.selectNoFrom((given) => given.val('a').as('b')).compile().sql;
  if (probe.includes('`')) return 'mysql';
  return probe.includes('$1') ? 'postgres' : 'sqlite';
}
