import { err, type Result, type ResultAsync } from 'neverthrow';
import { type Context, contextOf, regimeOf } from '../context.js';
import { illegalTransition } from '../core/fail.js';
import type { IllegalTransition, LeaseBusy, LeaseLost, LostRace, StoreFailure, TaskNotFound } from '../core/failure.js';
import { isLegalMove } from '../core/stages.js';
import { secretOf } from '../holding/lease-handle.js';
import { abandonable, abandoned } from '../lease-row/abandonable.js';
import { releasedUnguarded } from '../lease-row/released.js';
import type { Shape } from '../shape.js';
import { neverReject } from '../sql/never-reject.js';
import { suited } from '../survey/suited.js';
import type { TransitionOwnership } from '../transition-ownership.js';
import { fitting } from './fitting.js';
import type { StageChange, StageFailure, StageMoved } from './stage-change.js';
import { type CheckedStageWrite, checkStageWrite, type StageRequest } from './stage-request.js';
import { writeFenced } from './write-fenced.js';
import { writeObserved } from './write-observed.js';
import { writeUnfenced } from './write-unfenced.js';

/**
 * Moves a task from the expected stage to the next: one UPDATE, decided by the database.
 *
 * With a lease the write is fenced: it happens only while the row of this very acquisition is there. Without
 * one it happens only if no one holds the task, for an unleased writer must not move the stage under an owner
 * in mid-effect; a dead holder is reclaimed and the write tried once more. The loser has written nothing.
 *
 * Without a lease a stage that went A → B → A since it was read is taken for unchanged; the fenced form
 * refuses it. A trigger of yours that rewrites the stage is reported as `lost-race` with the stage it left.
 *
 * Fails with `lost-race`, `lease-busy`, `lease-lost`, `task-not-found`, `illegal-transition` (before any
 * statement) or `store-failure`.
 *
 * @example
 * ```ts
 * import { updateStageCas } from 'transition-ownership';
 * import { ownership } from './setup.js';
 *
 * const moved = await updateStageCas(ownership, { taskId: 1, expected: 'deploy-staging', next: 'deploy' });
 * moved.map(({ to }) => to); // ok('deploy')
 * ```
 */
export function updateStageCas<S extends Shape, From extends S['stage']>(
  ownership: TransitionOwnership<S>,
  request: StageRequest<S, From>,
): ResultAsync<
  StageMoved<S['taskId'], S['stage']>,
  LostRace<S['stage']> | LeaseBusy | LeaseLost | TaskNotFound | IllegalTransition | StoreFailure
> {
  const context = contextOf(ownership);
  const checked = checkStageWrite(context, request);
  return neverReject(context.session, writeStage(context, checked));
}

/** The verb without its types: its caller waits until the signal of the request fires. */
export function writeStage(context: Context, request: CheckedStageWrite): Promise<Result<StageChange, StageFailure>> {
  const { signal } = request;
  const abandoning = { signal, told: abandoned(context, signal) };
  return abandonable(context, abandoning, (patient) => writeNow(patient, request));
}

async function writeNow(context: Context, request: CheckedStageWrite): Promise<Result<StageChange, StageFailure>> {
  const { taskId, expected, next, lease } = request;
  const secret = lease === undefined ? undefined : secretOf(lease, context.root);
  // A lease outside the scope stays there: what its request said is said again.
  const asked =
    secret === undefined || secret.guarded || request.context !== undefined ? request.context : secret.context;
  // A lease with a row is in scope.
  const regime = secret?.guarded
    ? context.mode()
    : regimeOf(context, { taskId, stage: expected, actor: lease?.actor, context: asked });
  const { transitions } = context.settings;
  const isIllegal = transitions !== undefined && !isLegalMove(transitions, expected, next);
  if (regime === 'observe') {
    const observed = await writeObserved(context, request, { isIllegal, secret });
    if (secret?.guarded === false && request.release && observed.isOk()) releasedUnguarded(context, secret);
    return observed;
  }
  if (isIllegal && regime !== 'off') return err(illegalTransition(taskId, expected, next));
  if (secret?.guarded) {
    const { holding } = secret;
    holding.check();
    return suited(context, ['tasks'], () => fitting(context, request, () => writeFenced(context, request, holding)));
  }
  const written = await writeUnfenced(context, request, regime, secret?.reason === 'store-failed');
  if (secret !== undefined && request.release && written.isOk()) releasedUnguarded(context, secret);
  return written;
}
