import type { TickReport } from 'transition-ownership';
import type { Reconciled } from '../reconciler.js';
import { addTask, type Crew, passStage, runTo } from './crew.js';

/** A run has ended and its monitor is in the middle of a merge; everybody else comes at the same moment. */
export async function oneOwner(crew: Crew): Promise<void> {
  const { story, web, reaper, reconciler, monitor } = crew;
  const taskId = await addTask(crew, 'web');
  story.chapter('One owner, and four more who want the same move');
  await runTo(crew, 'merge_pr asked');
  const [lease] = monitor.events('lease.acquired');
  story.done(`${monitor.title} saw a run of task ${taskId} end and merges, token ${lease?.fencingToken ?? 'none'}`);

  const [ci, direct, reconciled, reaped] = await Promise.all([
    web.post('/webhook/ci', { taskId }),
    web.post('/webhook/stage', { taskId, expected: 'deploy-staging', next: 'deploy' }),
    reconciler.tick('reconciler') as Promise<Reconciled>,
    reaper.tick('reaper') as Promise<TickReport>,
  ]);
  story.seen(`a webhook says "go on": ${ci.status} ${ci.body.message ?? ci.body.type}`);
  story.seen(`a webhook says "it is in deploy": ${direct.status} ${direct.body.type ?? 'written'}`);
  story.seen(`the reconciler ${reconciled.deferred.includes(taskId) ? 'defers to a live owner' : 'sees no owner'}`);
  story.seen(`the reaper sees the run's process gone, and ${reaped.deferred === 1 ? 'defers as well' : 'no owner'}`);

  monitor.go();
  const { from, to } = await monitor.event('stage.changed');
  const others = [web, reconciler].flatMap((child) => child.events('stage.changed').map(() => child.name));
  story.came(`${[...others, monitor.name].join(' and ')} moved task ${taskId} from ${from} to ${to}`);
  await passStage(crew);
}
