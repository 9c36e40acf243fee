import { err, ok, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import type { EffectRecord } from '../core/effect.js';
import { type EventFacts, jsonId } from '../core/event.js';
import type { StoreFailure } from '../core/failure.js';
import { readEffectRow } from '../sql/effect-rows.js';
import type { EffectKey, EffectStatements, SeenEffect } from '../sql/effect-statements.js';
import { execute } from '../sql/execute.js';

type Query = ReturnType<EffectStatements['read']>;

/** What an event says of an effect. */
export function effectFacts({ taskId, effect, key }: EffectKey, fencingToken: number | null) {
  return { taskId: jsonId(taskId), effect, key, fencingToken } satisfies EventFacts['effect.started'];
}

/** Reads the row of an effect; `null` if there is none. */
export async function readEffect(
  { session, settings }: Context,
  effects: EffectStatements,
  { taskId, effect, key }: EffectKey,
): Promise<Result<EffectRecord | null, StoreFailure>> {
  const reply = await execute(session, effects.read({ taskId, effect, key }));
  return reply.map(({ rows: [row] }) => (row === undefined ? null : readEffectRow(row, settings.taskIdType)));
}

/** The row of an effect after a write, and whether the word that stands there is the one that was sent. */
export interface Written {
  readonly record: EffectRecord | null;
  readonly took: boolean;
}

/**
 * Sends a write that leaves a row with this claim in this state, and returns whether it took hold. Where no row
 * is answered the row is read: that settles lost replies too, and databases whose writes return none.
 *
 * Fails if the write did, unless the row shows that it took hold all the same.
 */
export async function writeEffect(
  context: Context,
  effects: EffectStatements,
  { state, ...named }: SeenEffect & Pick<EffectRecord, 'state'>,
  write: Query,
): Promise<Result<Written, StoreFailure>> {
  const sent = await execute(context.session, write);
  const row = sent.isOk() ? sent.value.rows[0] : undefined;
  if (row !== undefined) return ok({ record: readEffectRow(row, context.settings.taskIdType), took: true });
  const read = await readEffect(context, effects, named);
  if (read.isErr()) return err(sent.isErr() ? sent.error : read.error);
  const record = read.value;
  const took = record?.claim === named.claim && record.state === state;
  return sent.isErr() && !took ? err(sent.error) : ok({ record, took });
}
