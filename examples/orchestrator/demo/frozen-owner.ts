import { setTimeout as pause } from 'node:timers/promises';
import { Child } from './child.js';
import { addTask, type Crew, passStage, runTo } from './crew.js';

/** The owner is frozen for longer than its lease lasts, and wakes up when another has done its work. */
export async function frozenOwner(crew: Crew): Promise<void> {
  const { story, web, directory } = crew;
  const taskId = await addTask(crew, 'search');
  story.chapter('The owner is frozen past its lease and wakes up too late');
  const sleeper = await new Child(directory, { name: 'second monitor', LEASE_TTL_MS: '3000' }).ready();
  await runTo({ ...crew, monitor: sleeper }, 'merge_pr applied');
  sleeper.signal('SIGSTOP');
  story.done(`${sleeper.title} merged task ${taskId} and got SIGSTOP; its lease lasts 3 s`);

  let asked = await web.post('/webhook/ci', { taskId });
  story.seen(`a webhook asks to go on: ${asked.status} ${asked.body.message ?? asked.body.type}`);
  while (asked.body.type === 'lease-busy') {
    await pause(100);
    asked = await web.post('/webhook/ci', { taskId });
  }
  const reclaimed = web.events('lease.reclaimed').at(-1);
  story.seen(`it asks again until the owner is dead (${reclaimed?.reason ?? 'no reason'})`);
  story.came(`the webhook moved the task: ${asked.status} ${asked.body.type}`);

  sleeper.signal('SIGCONT');
  sleeper.go();
  const { reason } = await sleeper.event('lease.lost');
  story.came(`${sleeper.name} woke up, was refused at its next step (lease lost: ${reason}) and did nothing more`);
  await sleeper.leave();
  await passStage(crew);
}
