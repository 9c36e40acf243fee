import { err } from 'neverthrow';
import { describeFailure, forceReleaseLease, type Holder } from 'transition-ownership';
import type { Release } from './arguments.js';
import { Misused, neverReject } from './failed.js';
import type { Mapping, Ownership } from './mapping.js';
import { type Report, report } from './report.js';
import { owner, printable } from './text.js';

/** Takes a lease from its owner, if it is the one that the operator saw. */
export async function release(leases: Ownership, { tasks, lease }: Mapping, order: Release): Promise<Report> {
  const { token: fencingToken, by, reason } = order;
  const taskId = taskIdOf(order.task, tasks.idType ?? lease.taskIdType ?? 'integer');
  const released = await forceReleaseLease(leases, { taskId, fencingToken, by, reason });
  const told = { command: 'release', taskId, fencingToken, by, reason };
  if (released.isOk()) {
    const { actor, stage } = released.value;
    const from = `${actor} (token ${fencingToken}, ${owner(released.value)}${stage === null ? '' : `, ${stage}`})`;
    const text = printable(`Task ${order.task} was taken from ${from} by ${by}: ${reason}`);
    return report(false, `${text}\n${STILL}`, { ...told, outcome: 'released', holder: shownHolder(released.value) });
  }
  const { error } = released;
  if (error.type === 'store-failure') return neverReject(err(error), 'The lease cannot be released');
  const holder = error.type === 'token-mismatch' ? shownHolder(error.holder) : null;
  return report(true, printable(describeFailure(error)), { ...told, outcome: error.type, holder });
}

const STILL =
  'If its owner still runs, its fenced writes are refused from now on; an effect that it has begun goes on.';

/** A holder without its claim, which is what a fence goes by. */
function shownHolder({ claim: _, ...holder }: Holder): object {
  return holder;
}

/** A task id as it is typed on a command line. */
function taskIdOf(task: string, type: unknown): number | bigint | string {
  if (type === 'text') return task;
  if (!/^-?\d+$/.test(task)) throw new Misused(`--task takes a whole number, for tasks.idType is ${String(type)}.`);
  return type === 'bigint' ? BigInt(task) : Number(task);
}
