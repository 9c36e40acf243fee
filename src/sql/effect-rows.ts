import { checkState, type EffectRecord } from '../core/effect.js';
import type { IdType } from '../core/id.js';
import type { Row } from './execute.js';
import { demandId, demandInteger, readInteger, readText } from './rows.js';

/** A row of the journal of effects as a frozen value. */
export function readEffectRow(row: Row, taskIdType: IdType): EffectRecord {
  return Object.freeze({
    taskId: demandId(taskIdType, row, 'task_id'),
    effect: readText(row['effect']) ?? '',
    key: readText(row['key']) ?? '',
    claim: readText(row['claim']) ?? '',
    fencingToken: demandInteger(row, 'fencing_token'),
    actor: readText(row['owner']) ?? '',
    state: checkState(readText(row['state'])),
    result: readText(row['result']),
    startedAtMs: demandInteger(row, 'started_ms'),
    appliedAtMs: readInteger(row['applied_ms']),
  });
}
