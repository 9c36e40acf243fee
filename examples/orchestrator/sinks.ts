import { appendFileSync } from 'node:fs';
import type { OwnershipEvent } from 'transition-ownership';

/** Whoever wants to hear of events. */
export type Listener = (event: OwnershipEvent) => void;

/** Wakes a person for what is severe enough. */
export function alertSink(wake: (text: string) => void): Listener {
  return (event) => {
    if (event.severity === 'alert') wake(JSON.stringify(event));
  };
}

/** Writes down, in words, everything that did not go as planned: what the next shift reads first. */
export function lessonsJournal(file: string): Listener {
  return (event) => {
    const lesson = lessonOf(event);
    if (lesson !== undefined) appendFileSync(file, `${new Date().toISOString()} ${lesson}\n`);
  };
}

function lessonOf(event: OwnershipEvent): string | undefined {
  switch (event.type) {
    case 'lease.reclaimed':
      return `task ${event.taskId}: ${event.actor} left its lease (token ${event.fencingToken}) behind: ${event.reason}`;
    case 'lease.forced':
      return `task ${event.taskId}: ${event.actor} held it for too long and was overruled`;
    case 'lease.lost':
      return `task ${event.taskId}: ${event.actor} lost its lease (token ${event.fencingToken}): ${event.reason}`;
    case 'queue.sanitized':
      return `job ${event.jobId} was queued and carried run ${event.runId}, pid ${event.pid}: cleared`;
    case 'job.reaped':
      return `job ${event.jobId} was taken from run ${event.runId}: ${event.reason}`;
    case 'effect.unknown':
      return `task ${event.taskId}: nobody can tell whether ${event.effect} happened: ${event.message}`;
    case 'effect.unrecorded':
      return `task ${event.taskId}: ${event.effect} happened and is not in the journal: ${event.message}`;
    case 'operator.acted':
      return `task ${event.taskId}: ${event.by} chose ${event.action}: ${event.reason}`;
    default:
      return undefined;
  }
}
