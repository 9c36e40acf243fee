import { Child } from './child.js';
import { list, type Scene } from './scene.js';

const names = ['monitor', 'reaper', 'reconciler', 'webhook'];

/** Four actors ask for the same move at once; whoever gets it is in the middle of a merge while the others ask. */
export async function race({ directory, story }: Scene, taskId: number): Promise<void> {
  story.chapter(`Four actors want to move task ${taskId} from deploy-staging to deploy`);
  const actors = await Promise.all(names.map((name) => Child.start(directory, { name, HOLD_AT: 'merge_pr asked' })));
  story.done(`${list(actors.map(({ title }) => title))} asked at the same moment`);
  for (const actor of actors) actor.advance(taskId);
  const firsts = await Promise.all(actors.map((actor) => actor.stopOrAnswer()));

  const owners = actors.filter((_, index) => 'at' in (firsts[index] ?? {}));
  for (const owner of owners) {
    const [acquired] = owner.events('lease.acquired');
    story.seen(`${owner.name} got the lease (token ${acquired?.fencingToken ?? 'none'}) and began to merge`);
  }
  for (const actor of actors) {
    for (const { verdict, reason } of actor.events('lease.busy')) {
      story.seen(`${actor.name} deferred: the owner is ${verdict} (${reason})`);
    }
  }
  for (const owner of owners) owner.go();
  const answers = await Promise.all(owners.map((owner) => owner.answer()));
  const moved = answers.filter(({ type }) => type === 'moved').length;
  story.came(`${owners.length} of ${names.length} merged, ${moved} moved the task to deploy`);
  await Promise.all(actors.map((actor) => actor.leave()));
}
