import { err, type Result } from 'neverthrow';
import type { Context } from '../context.js';
import { unsuitable } from '../core/fail.js';
import type { StoreFailure } from '../core/failure.js';
import { finding } from '../core/finding.js';
import { characters, inspectValue } from '../core/inspect-value.js';
import { shownTable } from '../sql/tables.js';
import type { CheckedStageWrite } from './stage-request.js';

/** Writes a stage if the column can hold it: some databases would cut it, or empty it, and say nothing. */
export async function fitting<T, E>(
  { survey, settings }: Context,
  { next }: Pick<CheckedStageWrite, 'next'>,
  write: () => Promise<Result<T, E>>,
): Promise<Result<T, E | StoreFailure>> {
  if (next === null || settings.survey !== 'refuse') return write();
  const { stageRoom, stageLabels } = survey.columns;
  const table = shownTable(settings.tasks.named);
  const column = `The column ${inspectValue(`${table}.${settings.tasks.spelled(settings.stageColumn)}`)}`;
  if (stageRoom !== null && characters(next) > stageRoom) {
    const message = `${column} takes ${stageRoom} characters, and ${inspectValue(next)} has more: make it longer.`;
    return err(unsuitable([finding('text-too-short', 'error', message, table)]));
  }
  if (stageLabels === null || stageLabels.includes(next)) return write();
  const message = `${column} is an enumeration without ${inspectValue(next)}: add it.`;
  return err(unsuitable([finding('enum-lacks', 'error', message, table)]));
}
