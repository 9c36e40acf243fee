import { checkThenAct } from './01-check-then-act.js';
import { releaseByTask } from './02-release-by-task.js';
import { effectBeforeItsRow } from './03-effect-before-its-row.js';
import { unfencedStageWrite } from './04-unfenced-stage-write.js';
import { heartbeatThatUpserts } from './05-heartbeat-that-upserts.js';
import { requeueThatKeepsThePid } from './06-requeue-that-keeps-the-pid.js';
import { recoveryThatIgnoresALiveOwner } from './07-recovery-that-ignores-a-live-owner.js';
import { timeoutByRace } from './08-timeout-by-race.js';
import { retryOfAnUnknownOutcome } from './09-retry-of-an-unknown-outcome.js';
import { trustInAPidAlone } from './10-trust-in-a-pid-alone.js';
import type { PlantedBug } from './planted-bug.js';

/** Ten mistakes that orchestrators make, each with its corrected twin. */
export const plantedBugs: readonly PlantedBug[] = [
  checkThenAct,
  releaseByTask,
  effectBeforeItsRow,
  unfencedStageWrite,
  heartbeatThatUpserts,
  requeueThatKeepsThePid,
  recoveryThatIgnoresALiveOwner,
  timeoutByRace,
  retryOfAnUnknownOutcome,
  trustInAPidAlone,
];
