import {
  abandonTransition,
  forceReleaseLease,
  parseTaskId,
  resolveEffect,
  type Shape,
  type TransitionOwnership,
} from '../index.js';
import type { HttpAction } from './http-options.js';
import { failed, json, refusal, withoutClaim } from './replies.js';

/** What an order says; the library checks the rest of it. */
export type Said = Readonly<Record<string, unknown>> & { readonly taskId: Shape['taskId'] };

/** Something that can be ordered. */
interface Order {
  readonly action: Exclude<HttpAction, 'read'>;
  carryOut(ownership: TransitionOwnership, said: Said): Promise<Response>;
}

/** `POST` to each. What is handed on is not known to be of the right shape: the library refuses what is not. */
export const orders: Readonly<Record<string, Order>> = {
  '/transition-lease/release': {
    action: 'release',
    carryOut: release,
  },
  '/transitions/abandon': {
    action: 'abandon',
    carryOut: async (ownership, said) => {
      const abandoned = await abandonTransition(ownership, said as unknown as Parameters<typeof abandonTransition>[1]);
      return abandoned.isOk() ? json(200, withoutClaim(abandoned.value)) : failed(abandoned.error);
    },
  },
  '/effects/resolve': {
    action: 'resolve',
    carryOut: async (ownership, said) => {
      const resolved = await resolveEffect(ownership, said as unknown as Parameters<typeof resolveEffect>[1]);
      if (resolved.isErr()) return failed(resolved.error);
      const [status, message] = RESOLUTIONS[resolved.value];
      return refusal(status, resolved.value, message);
    },
  },
};

const RESOLUTIONS = {
  resolved: [200, 'It was written down.'],
  'already-applied': [409, 'The journal knows already that it was applied.'],
  'not-found': [404, 'The journal has no start of such an effect.'],
  'under-way': [409, 'Somebody is at it at this moment.'],
} as const;

async function release(ownership: TransitionOwnership, said: Said): Promise<Response> {
  const released = await forceReleaseLease(ownership, said as unknown as Parameters<typeof forceReleaseLease>[1]);
  return released.isOk() ? json(200, withoutClaim(released.value)) : failed(released.error);
}

/** Carries out an order, in the name of whoever was found to give it. */
export async function obey(
  ownership: TransitionOwnership,
  order: Order,
  { taskId: given, ...said }: Readonly<Record<string, unknown>>,
  by: string | undefined,
): Promise<Response> {
  const taskId = parseTaskId(ownership, given);
  if (taskId.isErr()) return failed(taskId.error);
  try {
    return await order.carryOut(ownership, { ...said, ...(by !== undefined && { by }), taskId: taskId.value });
  } catch (error) {
    // The library throws for a request of the wrong shape only, before it has done anything.
    if (error instanceof TypeError || error instanceof RangeError) return refusal(400, 'misuse', error.message);
    throw error;
  }
}
