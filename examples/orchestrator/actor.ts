import { type Failure, reclaimStaleLeases } from 'transition-ownership';
import { advance } from './engine.js';
import { openOrchestrator } from './orchestrator.js';

/** What came of asking an actor to move a task. */
export type Answer =
  | { readonly type: 'moved'; readonly from: string; readonly to: string }
  | { readonly type: 'nothing-to-do' }
  | { readonly type: Failure['type']; readonly message: string };

/** One actor in a process of its own, `actor.ts <directory> <actor>`: moves a task whenever it is told to. */
const [directory = '', actor = ''] = process.argv.slice(2);
const orchestrator = openOrchestrator(directory, (event) => process.send?.({ event }));

process.on('message', (message: { readonly advance?: number }) => {
  if (message.advance !== undefined) void answer(message.advance);
});
process.on('disconnect', () => void leave());

// What dead owners left behind is cleared before anything new is begun.
const recovered = await reclaimStaleLeases(orchestrator.ownership);
process.send?.({ ready: recovered.isOk() });

async function answer(taskId: number): Promise<void> {
  const told: Answer = await advance(orchestrator, taskId, actor).then((result) =>
    result.match(
      (value) => value,
      ({ type, message }) => ({ type, message }),
    ),
  );
  process.send?.({ answer: told });
}

async function leave(): Promise<void> {
  void (await orchestrator.ownership.close());
  await orchestrator.db.destroy();
}
