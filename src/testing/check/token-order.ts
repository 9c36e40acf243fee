import type { Operation } from '../world/view.js';
import type { LeaseInput, LeaseOutput } from './lease-model.js';

/** What `checkTokenOrder` found. */
export interface TokenOrder {
  /** True if nothing is wrong. */
  readonly ok: boolean;
  /** One sentence for each thing that no lease could have done. */
  readonly violations: readonly string[];
}

type LeaseOperation = Operation<LeaseInput, LeaseOutput>;

interface Grant {
  readonly token: number;
  readonly call: number;
  readonly ret: number;
}

/**
 * Checks a long history of a lease in time that grows as n log n: fencing tokens give the order of grants away.
 *
 * Everything that it reports is impossible for a lease: a token granted twice, a token answered before a smaller one
 * was asked for, a write, renewal or release accepted after a higher token had been granted. What it does not report
 * may still be wrong; `checkLinearizable` finds more, in short histories. For soak tests and rows from production.
 */
export function checkTokenOrder(history: readonly Operation<LeaseInput, LeaseOutput>[]): TokenOrder {
  const byTask = new Map<string, LeaseOperation[]>();
  for (const operation of history) {
    const task = String(operation.input.taskId);
    const known = byTask.get(task);
    if (known === undefined) byTask.set(task, [operation]);
    else known.push(operation);
  }
  const violations = [...byTask].flatMap(([task, operations]) =>
    violationsOf(operations).map((each) => `task ${task}: ${each}`),
  );
  return { ok: violations.length === 0, violations };
}

function violationsOf(operations: readonly LeaseOperation[]): string[] {
  const grants = operations.flatMap(grantOf).sort((a, b) => a.token - b.token || a.call - b.call);
  return [...misordered(grants), ...staleAccepted(operations, grants)];
}

function grantOf({ input, output, call, ret }: LeaseOperation): Grant[] {
  if (input.verb !== 'acquire' || typeof output !== 'object' || output === null) return [];
  return [{ token: output.fencingToken, call, ret }];
}

function* misordered(grants: readonly Grant[]): Iterable<string> {
  let latestCall = Number.NEGATIVE_INFINITY;
  for (const [at, { token, call, ret }] of grants.entries()) {
    if (token === grants[at - 1]?.token) yield `token ${token} was granted twice`;
    if (ret < latestCall) yield `token ${token} was granted before a smaller token was asked for`;
    latestCall = Math.max(latestCall, call);
  }
}

function* staleAccepted(operations: readonly LeaseOperation[], grants: readonly Grant[]): Iterable<string> {
  const firstAnswerFrom = answeredFrom(grants);
  for (const { input, output, call } of operations) {
    if (input.verb === 'acquire' || output !== true) continue;
    const above = firstAbove(grants, input.fencingToken);
    if ((firstAnswerFrom[above] ?? Number.POSITIVE_INFINITY) < call) {
      yield `${input.verb} of token ${input.fencingToken} was accepted after token ${grants[above]?.token ?? 0} had been granted`;
    }
  }
}

/** For each place the earliest answer of that grant or a later one. */
function answeredFrom(grants: readonly Grant[]): number[] {
  const earliest = new Array<number>(grants.length);
  let soFar = Number.POSITIVE_INFINITY;
  for (let at = grants.length - 1; at >= 0; at--) {
    soFar = Math.min(soFar, grants[at]?.ret ?? soFar);
    earliest[at] = soFar;
  }
  return earliest;
}

/** The place of the first grant with a higher token, by bisection. */
function firstAbove(grants: readonly Grant[], token: number): number {
  let low = 0;
  let high = grants.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((grants[middle]?.token ?? 0) <= token) low = middle + 1;
    else high = middle;
  }
  return low;
}
