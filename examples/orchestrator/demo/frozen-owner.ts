import { setTimeout as pause } from 'node:timers/promises';
import { Child } from './child.js';
import type { Scene } from './scene.js';

/** The owner is frozen for longer than its lease lasts and wakes up when another has done its work. */
export async function frozenOwner({ directory, story }: Scene, taskId: number): Promise<void> {
  story.chapter('The owner is frozen past its lease and wakes up too late');
  const owner = await Child.start(directory, { name: 'monitor', HOLD_AT: 'merge_pr applied', LEASE_TTL_MS: '3000' });
  const heir = await Child.start(directory, { name: 'reconciler' });
  owner.advance(taskId);
  await owner.stopOrAnswer();
  owner.signal('SIGSTOP');
  story.done(`${owner.title} merged task ${taskId} and got SIGSTOP; its lease lasts 3 s`);

  let asked = 0;
  for (;;) {
    heir.advance(taskId);
    asked += 1;
    const answer = await heir.answer();
    if (answer.type !== 'lease-busy') break;
    await pause(100); // as often as a reconciler looks
  }
  const [deferred] = heir.events('lease.busy');
  const [reclaimed] = heir.events('lease.reclaimed');
  if (deferred !== undefined && reclaimed !== undefined) {
    story.seen(`${heir.title} deferred ${asked - 1} times: the owner was ${deferred.verdict} (${deferred.reason})`);
    story.seen(`then it was ${reclaimed.verdict} (${reclaimed.reason}), and ${heir.name} took over and moved the task`);
  }

  owner.signal('SIGCONT');
  owner.go();
  story.done(`${owner.title} got SIGCONT and went on as if nothing had happened`);
  const late = await owner.answer();
  story.came(`its next step ended with ${late.type}`);

  heir.advance(taskId);
  const last = await heir.answer();
  story.came(`${heir.name} finished: the task is ${last.type === 'moved' ? last.to : last.type}`);
  await Promise.all([owner.leave(), heir.leave()]);
}
