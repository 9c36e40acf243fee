import { optional, type RulesOf, requestOf, text } from '../../core/request.js';
import type { AnyTables, Row } from '../store/store.js';
import { type Invariant, invariant } from '../world/invariant.js';

/** Where a rule finds the tasks and their leases. */
export interface StageTables {
  /** The table of tasks. Default: `tasks`. */
  readonly table?: string;
  /** Its id column. Default: `id`. */
  readonly id?: string;
  /** Its stage column. Default: `stage`. */
  readonly stage?: string;
  /** The lease table. Default: `transition_lease`. */
  readonly lease?: string;
}

const check = requestOf(
  {
    table: optional(text, 'tasks'),
    id: optional(text, 'id'),
    stage: optional(text, 'stage'),
    lease: optional(text, 'transition_lease'),
  } satisfies RulesOf<StageTables>,
  'tables',
);

/**
 * The stage of a held task moves only by the hand of its owner.
 *
 * Looks at every step that changed a stage: if the task's lease was held before the step, a process that took part in
 * the step is the one that the lease names.
 */
export function exactlyOneStageWriter<DB = AnyTables>(tables: StageTables = {}): Invariant<DB> {
  const { table, id, stage, lease } = check(tables);
  return invariant<DB>(
    'exactly one stage writer',
    (world) => {
      const { actors, previous } = world;
      for (const after of world.rows(table)) {
        const sameTask = (row: Row) => String(row[id]) === String(after[id]);
        const before = previous[table]?.find(sameTask);
        if (before === undefined || before[stage] === after[stage]) continue;
        const owner = previous[lease]?.find((row) => String(row['task_id']) === String(after[id]));
        if (owner === undefined || actors.some((actor) => actor.bootId === owner['owner_boot_id'])) continue;
        return `${actors.map((actor) => actor.name).join(' or ')} moved task ${String(after[id])} from ${String(before[stage])} to ${String(after[stage])} while ${String(owner['owner_boot_id'])} held it`;
      }
      return true;
    },
    { ofChanges: true },
  );
}
