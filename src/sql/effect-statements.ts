import { sql } from 'kysely';
import type { IdType, IdValue } from '../core/id.js';
import type { Dialect, Fragment, FreeInsert } from '../dialect/dialect.js';
import { andCommitting, committing, type Database, type Slots, statement } from './statement.js';

/** Which effect of which task. */
export interface EffectKey {
  readonly taskId: IdValue;
  readonly effect: string;
  readonly key: string;
}

/** What a row says of whoever wrote it. */
export interface EffectClaim extends EffectKey {
  /** The identity of the start. */
  readonly claim: string;
  readonly fencingToken: number;
  readonly actor: string;
}

/** A start: fenced by the lease that it happens under. */
export interface StartEffect extends EffectClaim {
  /** The key and the claim of the lease: the journal of version 0.1.0 may spell the id in another way. */
  readonly leaseTaskId: IdValue;
  readonly leaseClaim: string;
  /** How much of the lease must be left, in ms. */
  readonly needsMs: number;
}

/** A word about a start that was seen. */
export interface SeenEffect extends EffectKey {
  readonly claim: string;
}

/** The names that the statements need. */
export interface EffectNames {
  readonly effects: Fragment;
  readonly lease: Fragment;
  readonly taskIdType: IdType;
}

const task = sql.id('task_id');
const effect = sql.id('effect');
const key = sql.id('key');
const claim = sql.id('claim');
const state = sql.id('state');
const INSERTED = sql`${task}, ${effect}, ${key}, ${claim}, fencing_token, owner, ${state}, result, started_ms, applied_ms`;

/** Every statement on the journal of effects, compiled once for an ownership. */
export function effectStatements(database: Database, dialect: Dialect, names: EffectNames) {
  const { effects, lease, taskIdType } = names;
  const now = dialect.nowMs;
  const commits = andCommitting(dialect);
  const record = sql`${dialect.readId(taskIdType, task)} as task_id, ${effect}, ${key}, ${claim}, fencing_token, owner,
    ${state}, result, started_ms, applied_ms`;
  const returned = dialect.returning ? sql`returning ${record}` : sql``;
  const insertFree = (p: Slots<EffectKey>, rows: Pick<FreeInsert, 'rows' | 'condition'>): Fragment => {
    const unique = [
      { column: effect, value: p.effect },
      { column: task, value: p.taskId },
      { column: key, value: p.key },
    ] as const;
    const conditions = [rows.condition, committing(dialect)].filter((condition) => condition !== undefined);
    const condition = conditions.length === 0 ? {} : { condition: sql<boolean>`${sql.join(conditions, sql` and `)}` };
    const insert = { table: effects, columns: INSERTED, key: unique, rows: rows.rows, ...condition };
    return sql`${dialect.insertFree(insert)} ${returned}`;
  };
  const one = sql`(select 1 as one) as given`;
  const isEffect = (p: Slots<EffectKey>): Fragment =>
    sql`${task} = ${p.taskId} and ${effect} = ${p.effect} and ${key} = ${p.key}`;
  const isSeen = (p: Slots<SeenEffect>): Fragment => sql`${isEffect(p)} and ${claim} = ${p.claim}`;
  /** The lease of the starter is there, unexpired, with the time that the step needs; it cannot go before we commit. */
  const fence = (p: Slots<StartEffect>): Fragment<boolean> =>
    sql<boolean>`exists (select 1 from ${lease} where ${task} = ${p.leaseTaskId} and ${claim} = ${p.leaseClaim}
      and expires_ms >= ${now} + ${p.needsMs} ${dialect.shareLock})`;
  return {
    /** Reads one effect, as of the latest commit. */
    read: statement<EffectKey>(
      database,
      (p) => sql`select ${record} from ${effects} where ${isEffect(p)} ${dialect.latest}`,
    ),
    /** Writes down that an effect starts, unless anything is written of it already. */
    start: statement<StartEffect>(database, (p) =>
      insertFree(p, {
        rows: sql`select ${p.taskId}, ${p.effect}, ${p.key}, ${p.claim}, ${p.fencingToken}, ${p.actor}, 'started',
          null, ${now}, null from ${one}`,
        condition: fence(p),
      }),
    ),
    /** Starts anew what another process had started and did not do: exactly the start that was seen. */
    takeOver: statement<StartEffect & { seen: string }>(
      database,
      (p) => sql`update ${effects} set ${claim} = ${p.claim}, fencing_token = ${p.fencingToken}, owner = ${p.actor},
        started_ms = ${now} where ${isEffect(p)} and ${claim} = ${p.seen} and ${state} = 'started' and ${fence(p)}${commits} ${returned}`,
    ),
    /** Writes the result of a start of one's own, also over another process's bare word that it was applied. */
    finish: statement<SeenEffect & { result: string }>(
      database,
      (p) => sql`update ${effects} set ${state} = 'applied', result = ${p.result}, applied_ms = ${now}
        where ${isSeen(p)}${commits} ${returned}`,
    ),
    /** Marks exactly the start that was seen as applied. */
    mark: statement<SeenEffect & { result: string }>(
      database,
      (p) => sql`update ${effects} set ${state} = 'applied', result = ${p.result}, applied_ms = ${now}
        where ${isSeen(p)} and ${state} = 'started'${commits} ${returned}`,
    ),
    /** Writes down an effect that is known to be applied, unless anything is written of it already. */
    insertApplied: statement<EffectClaim & { result: string }>(database, (p) =>
      insertFree(p, {
        rows: sql`select ${p.taskId}, ${p.effect}, ${p.key}, ${p.claim}, ${p.fencingToken}, ${p.actor}, 'applied',
          ${p.result}, ${now}, ${now} from ${one}`,
      }),
    ),
    /** Strikes exactly the start that was seen: it certainly did nothing. */
    retract: statement<SeenEffect>(
      database,
      (p) => sql`delete from ${effects} where ${isSeen(p)} and ${state} = 'started'${commits} ${returned}`,
    ),
    /** Reads all effects of one task. */
    readOfTask: statement<{ taskId: IdValue }>(
      database,
      (p) =>
        sql`select ${record} from ${effects} where ${task} = ${p.taskId} order by ${effect}, ${key} ${dialect.allRows}`,
    ),
    /** Reads the effects that were started and whose end is not known. */
    readUnfinished: statement<{ limit: number }>(
      database,
      (p) => sql`select ${record} from ${effects} where ${state} = 'started' order by ${task}, ${effect}, ${key}
        limit ${p.limit}`,
    ),
    /** Counts them. */
    countUnfinished: statement<object>(
      database,
      () => sql`select count(*) as unfinished from ${effects} where ${state} = 'started'`,
    ),
  };
}

/** The statements on the journal of effects. */
export type EffectStatements = ReturnType<typeof effectStatements>;
