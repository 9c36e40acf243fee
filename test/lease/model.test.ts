import fc from 'fast-check';
import { acquireLease, forceReleaseLease, type Lease, releaseLease, updateStageCas } from 'transition-ownership';
import { describe, expect, test } from 'vitest';
import { countingDialect, ok } from '../rig/proofs.js';
import { openRig, type Rig, type RigOptions, type Stage, type TestOwnership, type TestProcess } from '../rig/rig.js';

const TASKS = [1, 2];
const SEATS = ['here', 'here', 'elsewhere'] as const;
const MAX_HOLD_MS = 120_000;

/** A process in its seat; whoever is restarted takes the seat of the dead. */
interface Seated {
  readonly host: string;
  readonly process: TestProcess;
  readonly ownership: TestOwnership;
  alive: boolean;
}

/** A lease that was granted, and to whom. */
interface Granted {
  readonly taskId: number;
  readonly lease: Lease<number>;
  readonly by: Seated;
  readonly deadlineMs: number;
  released: boolean;
}

/** Who holds each task, and at which stage it is. */
interface Model {
  readonly holders: Map<number, Granted>;
  readonly stages: Map<number, Stage>;
  token: number;
}

interface Real {
  readonly rig: Rig;
  readonly seats: Seated[];
  readonly granted: Granted[];
}

type Command = fc.AsyncCommand<Model, Real>;

function sit(rig: Rig, seat: number): Seated {
  const host = SEATS[seat % SEATS.length] ?? 'here';
  const process = rig.start(`${host}-${rig.started}`, { host });
  return { host, process, ownership: process.own({ lease: { maxHoldMs: MAX_HOLD_MS } }), alive: true };
}

/** What the truth table says of a holder, seen from a process: a living one renews, so its times alone never end it. */
function isDead({ rig }: Real, { by, deadlineMs, taskId }: Granted, observer: Seated): boolean {
  const nowMs = rig.time.databaseMs;
  if (nowMs >= deadlineMs) return true;
  if (by.alive) return false;
  const row = rig.leases().find((lease) => lease['task_id'] === taskId);
  return nowMs >= Number(row?.['expires_ms']) || by.host === observer.host;
}

/** The holder that keeps a process from a task; one that is dead to it counts for nothing. */
function keeper(model: Model, real: Real, taskId: number, observer: Seated): Granted | undefined {
  const holder = model.holders.get(taskId);
  return holder === undefined || isDead(real, holder, observer) ? undefined : holder;
}

function agree({ holders, stages }: Model, { rig }: Real): void {
  const rows = rig.leases().map((row) => [row['task_id'], row['claim']]);
  const held = [...holders].map(([taskId, { lease }]) => [taskId, lease.claim]);
  expect(rows.sort()).toEqual(held.sort());
  for (const [taskId, stage] of stages) expect(rig.task(taskId)?.['stage']).toBe(stage);
}

/** A command whose every run ends with the agreement of the rows with the model. */
function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      await run(model, real);
      agree(model, real);
    },
    toString: () => name,
  };
}

const other = (stage: Stage): Stage => (stage === 'deploy' ? 'deploy-staging' : 'deploy');
const stageOf = ({ stages }: Model, taskId: number): Stage => stages.get(taskId) ?? 'deploy-staging';

const acquire = (seat: number, taskId: number): Command =>
  command(`acquire(${seat}, ${taskId})`, async (model, real) => {
    const by = real.seats[seat];
    if (by === undefined) return;
    const kept = keeper(model, real, taskId, by);
    const asked = await acquireLease(by.ownership, { taskId, actor: 'monitor' });
    if (kept !== undefined) {
      expect(asked._unsafeUnwrapErr()).toMatchObject({ type: 'lease-busy', holder: { claim: kept.lease.claim } });
      return;
    }
    const lease = asked._unsafeUnwrap();
    expect(lease.fencingToken).toBeGreaterThan(model.token);
    model.token = Number(lease.fencingToken);
    const granted = { taskId, lease, by, deadlineMs: lease.deadlineAtMs, released: false };
    real.granted.push(granted);
    model.holders.set(taskId, granted);
  });

/** Does something with one of the leases whose process lives. */
const withLease = (
  name: string,
  pick: number,
  run: (model: Model, granted: Granted, isHolder: boolean) => Promise<void>,
): Command =>
  command(`${name}(${pick})`, async (model, { granted }) => {
    const living = granted.filter(({ by }) => by.alive);
    const chosen = living[pick % Math.max(1, living.length)];
    if (chosen !== undefined) await run(model, chosen, model.holders.get(chosen.taskId) === chosen);
  });

const release = (pick: number): Command =>
  withLease('release', pick, async ({ holders }, granted, isHolder) => {
    const outcome = await ok(releaseLease(granted.by.ownership, granted.lease));
    expect(outcome).toBe(isHolder ? 'released' : granted.released ? 'already-released' : 'superseded');
    if (isHolder) holders.delete(granted.taskId);
    granted.released ||= isHolder;
  });

const write = (pick: number, wrong: boolean): Command =>
  withLease(wrong ? 'misjudge' : 'write', pick, async (model, { taskId, lease, by }, isHolder) => {
    const stage = stageOf(model, taskId);
    const [expected, next] = wrong ? [other(stage), stage] : [stage, other(stage)];
    const written = await updateStageCas(by.ownership, { taskId, expected, next, lease });
    if (isHolder && !wrong) {
      expect(written._unsafeUnwrap()).toMatchObject({ from: stage, to: next });
      model.stages.set(taskId, next);
    } else expect(written._unsafeUnwrapErr().type).toBe(isHolder ? 'lost-race' : 'lease-lost');
  });

const writeUnleased = (seat: number, taskId: number): Command =>
  command(`writeUnleased(${seat}, ${taskId})`, async (model, real) => {
    const by = real.seats[seat];
    if (by === undefined) return;
    const kept = keeper(model, real, taskId, by);
    const stage = stageOf(model, taskId);
    const written = await updateStageCas(by.ownership, { taskId, expected: stage, next: other(stage) });
    if (kept !== undefined) {
      expect(written._unsafeUnwrapErr()).toMatchObject({ type: 'lease-busy', holder: { claim: kept.lease.claim } });
      return;
    }
    expect(written.isOk()).toBe(true);
    model.stages.set(taskId, other(stage));
    model.holders.delete(taskId);
  });

const force = (seat: number, taskId: number): Command =>
  command(`force(${seat}, ${taskId})`, async ({ holders }, { seats }) => {
    const by = seats[seat];
    const holder = holders.get(taskId);
    if (by === undefined) return;
    const fencingToken = holder?.lease.fencingToken ?? 1;
    const forced = await forceReleaseLease(by.ownership, { taskId, fencingToken, by: 'ada', reason: 'stuck' });
    expect(forced.isOk()).toBe(holder !== undefined);
    holders.delete(taskId);
  });

const restart = (seat: number): Command =>
  command(`restart(${seat})`, async (_model, { rig, seats }) => {
    const dying = seats[seat];
    if (dying === undefined) return;
    dying.process.kill();
    dying.alive = false;
    seats[seat] = sit(rig, seat);
  });

const wait = (ms: number): Command => command(`wait(${ms})`, async (_model, { rig }) => rig.time.advance(ms));

const seat = fc.nat(SEATS.length - 1);
const task = fc.constantFrom(...TASKS);
const commands = [
  fc.tuple(seat, task).map(([by, taskId]) => acquire(by, taskId)),
  fc.tuple(seat, task).map(([by, taskId]) => acquire(by, taskId)),
  fc.nat(8).map(release),
  fc.tuple(fc.nat(8), fc.boolean()).map(([pick, wrong]) => write(pick, wrong)),
  fc.tuple(seat, task).map(([by, taskId]) => writeUnleased(by, taskId)),
  fc.tuple(seat, task).map(([by, taskId]) => force(by, taskId)),
  seat.map(restart),
  fc.constantFrom(1, 9_999, 30_000, 45_000, MAX_HOLD_MS).map(wait),
];

async function explore(options: RigOptions, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: 'max' }), async (steps) => {
    await using rig = await openRig(options);
    const model: Model = { holders: new Map(), stages: new Map(), token: 0 };
    const real: Real = { rig, seats: SEATS.map((_, at) => sit(rig, at)), granted: [] };
    await fc.asyncModelRun(() => ({ model, real }), steps);
  });
  await fc.assert(property, { numRuns });
}

describe('whatever is done to leases, each task has the owner and the stage that the model says', () => {
  test('on SQLite', { timeout: 120_000 }, () => explore({}, 150));
  test('on SQLite without RETURNING', { timeout: 120_000 }, () => explore({ dialect: countingDialect }, 50));

  test.each([
    ['a release that goes by the task', 'where "task_id" = ? and "claim" = ?', 'where "task_id" = ? and ? is not null'],
    ['a fence that goes by the task', '"task_id" = ? and "claim" = ? )', '"task_id" = ? and ? is not null )'],
    ['an expiry past its bound', 'min(', 'max('],
    ['a stage write that compares nothing', '"stage" is ? collate binary', '? is not null'],
    ['an unleased write that asks for no holder', 'and not exists', 'and 1 = 1 or not exists'],
  ])('and the model notices %s', { timeout: 120_000 }, async (_, part, stead) => {
    let met = 0;
    const mutate = (text: string): string => {
      if (text.includes(part)) met += 1;
      return text.replace(part, stead);
    };
    await expect(explore({ mutate }, 300)).rejects.toThrow();
    expect(met).toBeGreaterThan(0);
  });
});
