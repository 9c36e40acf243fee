import { sql } from 'kysely';
import type { IdType, IdValue } from '../core/id.js';
import type { Dialect, Fragment } from '../dialect/dialect.js';
import { built } from './callers-parts.js';
import type { CallersTable } from './callers-table.js';
import type { StoredTimes } from './columns-found.js';
import { fence, nobodyHolds } from './lease-statements.js';
import { andCommitting, type Database, type Slots, type Statement, statement } from './statement.js';

/** What guards a stage write, besides the expected stage. */
export type StageGuard =
  /** The lease of the writer is still there. */
  | 'fenced'
  /** Nobody holds the task. */
  | 'free'
  /** Nothing: the caller writes even if somebody holds the task. */
  | 'expected'
  /** Not even the expected stage: the kill switch is off. */
  | 'none';

/** The parameters of a stage write; `claim` only for a fenced one. */
export interface WriteStage {
  readonly taskId: IdValue;
  readonly expected: string | null;
  readonly next: string | null;
  readonly claim: string | null;
}

/** The names that the statements need. */
export interface TaskNames {
  readonly tasks: CallersTable;
  readonly id: string;
  readonly stage: string;
  readonly updatedAt: string | undefined;
  readonly updatedAtValue?: ((builder: unknown) => unknown) | undefined;
  readonly idType: IdType;
  readonly lease: Fragment;
  /** How the time columns are stored, as far as is known by now. */
  readonly times: () => StoredTimes;
}

/** The values of extra columns, by column. */
export type ExtraColumns = Readonly<Record<string, unknown>>;

/** Every statement on the caller's tasks. */
export interface TaskStatements {
  /** Writes the stage under a guard; returns the stage as written. */
  write(guard: StageGuard, parameters: WriteStage, set: ExtraColumns): ReturnType<Statement<WriteStage>>;
  /** Writes the stage and deletes the lease, in one statement; only where the dialect can. */
  writeAndRelease(parameters: WriteStage, set: ExtraColumns): ReturnType<Statement<WriteStage>>;
  /** Reads the stage of a task. */
  readonly readStage: Statement<{ taskId: IdValue }>;
  /** The same in a caller's transaction. */
  readonly readLatestStage: Statement<{ taskId: IdValue }>;
}

const EXTRA = 'set:';

/** The statements on the caller's tasks; those with the same extra columns are compiled once. */
export function taskStatements(database: Database, dialect: Dialect, names: TaskNames): TaskStatements {
  const { idType, lease } = names;
  const { table: tasks } = names.tasks;
  const id = names.tasks.column(names.id);
  const stage = names.tasks.column(names.stage);
  const compiled = new Map<string, Statement<WriteStage & ExtraColumns>>();

  const read = sql`${dialect.readId('text', stage)} as stage`;
  const isTask = (taskId: Fragment): Fragment<boolean> => dialect.meetsId(idType, id, taskId);

  const stampedWith = (): unknown =>
    names.updatedAtValue === undefined
      ? dialect.instant(names.times().updatedAt, dialect.nowMs)
      : names.tasks.expression(built('tasks.updatedAt.value', names.updatedAtValue));

  const assignments = (p: Slots<WriteStage & ExtraColumns>, columns: readonly string[]): Fragment => {
    const { updatedAt: stamped } = names;
    const updatedAt =
      stamped === undefined || columns.some((column) => names.tasks.isSameColumn(column, stamped))
        ? []
        : [sql`${names.tasks.column(stamped)} = ${stampedWith()}`];
    const extra = columns.map((column) => sql`${names.tasks.column(column)} = ${p[`${EXTRA}${column}`]}`);
    return sql.join([sql`${stage} = ${p.next}`, ...updatedAt, ...extra]);
  };

  const condition = (p: Slots<WriteStage>, guard: StageGuard): Fragment => {
    if (guard === 'none') return isTask(p.taskId);
    const expected = sql`${isTask(p.taskId)} and ${dialect.sameText(stage, p.expected)}`;
    if (guard === 'fenced') return sql`${expected} and ${fence(dialect, lease, p.taskId, p.claim)}`;
    if (guard !== 'free') return expected;
    const free = sql`${expected} and ${nobodyHolds(lease, p.taskId)}`;
    // Text has more than one spelling: the lease has that of the row, and one of version 0.1.0 that of its request.
    return idType === 'text'
      ? sql`${free} and ${nobodyHolds(lease, dialect.keyOf(idType, sql`${tasks}.${id}`))}`
      : free;
  };

  const prepared = (kind: StageGuard | 'released', set: ExtraColumns): Statement<WriteStage & ExtraColumns> => {
    const columns = Object.keys(set).sort();
    const time = names.times().updatedAt;
    const key = columns.length === 0 ? `${kind} ${time}` : JSON.stringify([kind, time, columns]);
    let found = compiled.get(key);
    if (found === undefined) {
      found = statement<WriteStage & ExtraColumns>(database, (p) => {
        const guard = kind === 'released' ? 'fenced' : kind;
        const update = sql`update ${tasks} set ${assignments(p, columns)} where ${condition(p, guard)}${kind === 'none' ? sql`` : andCommitting(dialect)}`;
        if (kind !== 'released')
          return dialect.returning && kind !== 'none' ? sql`${update} returning ${read}` : update;
        return sql`with written as (${update} returning ${read}), released as (delete from ${lease}
          where task_id = ${p.taskId} and claim = ${p.claim} and exists (select 1 from written)) select stage from written`;
      });
      // The caller's value is made anew for each write.
      if (names.updatedAtValue === undefined) compiled.set(key, found);
    }
    return found;
  };

  const stageOf = (lock: Fragment): Statement<{ taskId: IdValue }> =>
    statement(database, (p) => sql`select ${read} from ${tasks} where ${isTask(p.taskId)} ${lock}`);

  const laid = (parameters: WriteStage, set: ExtraColumns): WriteStage & ExtraColumns => {
    const values: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(set)) values[`${EXTRA}${name}`] = value;
    return { ...parameters, ...values };
  };

  return {
    write: (guard, parameters, set) => prepared(guard, set)(laid(parameters, set)),
    writeAndRelease: (parameters, set) => prepared('released', set)(laid(parameters, set)),
    readStage: stageOf(sql``),
    readLatestStage: stageOf(dialect.latest),
  };
}
