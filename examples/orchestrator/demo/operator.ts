import { addTask, type Crew, passStage, runTo } from './crew.js';

/** An operator takes the lease of an owner that lives and is in the middle of its work. */
export async function operatorRelease(crew: Crew): Promise<void> {
  const { story, web, monitor } = crew;
  const taskId = await addTask(crew, 'billing');
  story.chapter('An operator takes the lease from a live owner');
  await runTo(crew, 'merge_pr applied');
  const lease = monitor.events('lease.acquired').at(-1);
  const fencingToken = lease?.fencingToken ?? 0;
  story.done(`${monitor.title} has merged task ${taskId} (token ${fencingToken}) and has three steps to go`);

  const order = { taskId, by: 'ada', reason: 'wrong coverage baseline' };
  const wrong = await web.post('/transition-lease/release', { ...order, fencingToken: fencingToken - 1 });
  story.seen(`release of token ${fencingToken - 1}: ${wrong.status} ${wrong.body.type}`);
  const right = await web.post('/transition-lease/release', { ...order, fencingToken });
  story.seen(`release of token ${fencingToken}: ${right.status}, written down with name and reason`);

  monitor.go();
  const { reason } = await monitor.event('lease.lost');
  story.came(`the owner was refused at its next step (lease lost: ${reason}); the merge that it had done is recorded`);
  const ci = await web.post('/webhook/ci', { taskId });
  story.came(`a webhook asked to go on: ${ci.status} ${ci.body.type}, without a second merge`);
  await passStage(crew);
}
