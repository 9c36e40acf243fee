import {
  abandonTransition,
  acquireLease,
  ensureSchema,
  type ProbeAnswer,
  recover,
  recoverOnStartup,
  runEffect,
  updateStageCas,
} from 'transition-ownership';
import { expect } from 'vitest';
import { failure, ok, type Proofs } from '../job/proofs.js';
import { bare, dieInEffect, journalled, killAfter, moveOn, restore, ruins, standing } from './ruins.js';

const LEASES = /transition_lease/;
const RECLAIM = /^delete (from )?.transition_lease/s;
const EFFECTS = /transition_effect/;

const cleared = { status: 'queued', run_id: null, pid: null, started_at: null, host: null, pid_start: null } as const;

/** What recovering at a start promises. */
export const recovering: Proofs = {
  'recoverOnStartup does its four steps, and reports each row': async (yard) => {
    const { lease, tokens } = await ruins(yard);
    const heir = yard.start('heir');
    const report = await ok(recoverOnStartup(journalled(heir), { jobs: 'dead-only' }));
    expect(report).toMatchObject({
      jobs: { requeued: [{ jobId: 1, taskId: 1, runId: 7, pid: 4_000 }], kept: [2], skipped: [] },
      sanitized: { found: 1, sanitized: [{ jobId: 3, taskId: 2, runId: 9, pid: 5_000 }], skipped: [] },
      reclaimed: [
        { taskId: 1, fencingToken: tokens[0], verdict: 'dead', reason: 'process-gone' },
        { taskId: 2, fencingToken: tokens[1] },
      ],
      skipped: [],
      transitions: [
        {
          taskId: 1,
          decision: 'hold',
          effects: [{ effect: 'merge_pr', key: 'c0ffee', decision: 'hold', state: 'started', fencingToken: tokens[0] }],
        },
        { taskId: 2, decision: 'hold', effects: [{ effect: 'deploy', decision: 'hold' }] },
      ],
      underWay: [],
      complete: true,
    });
    expect(Object.isFrozen(report)).toBe(true);
    expect(await yard.job(1)).toMatchObject({ ...cleared, worker_id: null });
    expect(await yard.job(2)).toMatchObject({ status: 'running', run_id: 7, worker_id: 'w2' });
    expect(await yard.job(3)).toMatchObject(cleared);
    expect((await standing(yard)).leases).toHaveLength(1);
    expect(lease.signal.aborted).toBe(false);
    expect(heir.told('recovery.finished')).toEqual([
      {
        type: 'recovery.finished',
        severity: 'info',
        requeued: 1,
        sanitized: 1,
        reclaimed: 2,
        held: 2,
        failed: 0,
        tookMs: expect.any(Number) as number,
      },
    ]);
  },

  'recoverOnStartup in a dry run reports what it would do, changes no row and tells no event': async (yard) => {
    await ruins(yard);
    const before = await standing(yard);
    const observer = yard.start('observer');
    const dry = await ok(recoverOnStartup(journalled(observer), { jobs: 'dead-only', dryRun: true }));
    expect(await standing(yard)).toEqual(before);
    expect(observer.wire.sent.filter(({ sql }) => !/^(select|with .job:page. as \(select)/.test(sql))).toEqual([]);
    expect(observer.events).toEqual([]);
    const done = await ok(recoverOnStartup(journalled(yard.start('heir')), { jobs: 'dead-only' }));
    expect(done).toMatchObject({ jobs: { requeued: [{ jobId: 1 }] }, sanitized: { found: 1 } });
    expect(dry).toEqual(done);
  },

  'recoverOnStartup does its steps in their order: jobs, queue, leases, effects': async (yard) => {
    await ruins(yard);
    const heir = yard.start('heir');
    await ok(recoverOnStartup(journalled(heir), { jobs: 'dead-only' }));
    const told = heir.events.map(({ type }) => type);
    const order = ['job.requeued', 'queue.sanitized', 'lease.reclaimed', 'recovery.finished'] as const;
    expect(order.map((type) => told.indexOf(type))).toEqual(
      order.map((type) => told.indexOf(type)).sort((one, other) => one - other),
    );
    const sent = heir.wire.sent.map(({ sql }) => (RECLAIM.test(sql) ? 'reclaim' : EFFECTS.test(sql) ? 'list' : ''));
    expect(sent.indexOf('list')).toBeGreaterThan(sent.lastIndexOf('reclaim'));
    expect(sent).toContain('reclaim');
  },

  'recoverOnStartup tells redrive, converge or hold of each transition, by the probes': async (yard) => {
    const tokens = [
      await dieInEffect(yard, 'first', 1),
      await dieInEffect(yard, 'second', 2, 'deploy'),
      await dieInEffect(yard, 'third', 3, 'ratchet'),
    ];
    const asked: unknown[] = [];
    const answering =
      (answer: ProbeAnswer) =>
      (question: { readonly taskId: number; readonly fencingToken: number | null }): ProbeAnswer => {
        asked.push([question.taskId, question.fencingToken]);
        return answer;
      };
    const probes = {
      merge_pr: answering('applied'),
      deploy: answering('not-applied'),
      ratchet: () => Promise.reject(new Error('503')),
      other: answering('unknown'),
    };
    const heir = yard.start('heir');
    const before = await standing(yard);
    const report = await ok(recoverOnStartup(journalled(heir), { jobs: 'dead-only', probes }));
    expect(report.transitions).toMatchObject([
      { taskId: 1, decision: 'converge', effects: [{ decision: 'converge' }] },
      { taskId: 2, decision: 'redrive', effects: [{ decision: 'redrive' }] },
      { taskId: 3, decision: 'hold', effects: [{ decision: 'hold', message: 'its probe threw: 503' }] },
    ]);
    expect(asked).toEqual([
      [1, tokens[0]],
      [2, tokens[1]],
    ]);
    expect(heir.told('recovery.finished')).toMatchObject([{ held: 1 }]);
    expect((await standing(yard)).effects).toEqual(before.effects);
  },

  'recoverOnStartup lists a task once, with all its unfinished effects, and no task whose effects are applied': async (
    yard,
  ) => {
    await dieInEffect(yard, 'first', 1);
    const second = yard.start('second');
    const own = journalled(second);
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', stage: 'deploy' }));
    const deploy = { effect: 'deploy', key: 'v1', apply: () => Promise.reject(new Error('hang up')) };
    await failure(runEffect(own, lease, deploy));
    await ok(runEffect(own, lease, { effect: 'ratchet', key: 'v1', apply: () => null }));
    const other = await ok(acquireLease(own, { taskId: 2, actor: 'finalizer', stage: 'deploy' }));
    await ok(runEffect(own, other, { effect: 'ratchet', key: 'v1', apply: () => null }));
    second.kill();
    await moveOn(yard, 1, 2);
    const probes: Record<string, () => ProbeAnswer> = { merge_pr: () => 'not-applied', deploy: () => 'applied' };
    const report = await ok(recoverOnStartup(journalled(yard.start('heir')), { jobs: 'dead-only', probes }));
    expect(report.transitions).toMatchObject([
      {
        taskId: 1,
        decision: 'redrive',
        effects: [
          { effect: 'deploy', decision: 'converge' },
          { effect: 'merge_pr', decision: 'redrive' },
        ],
      },
    ]);
    expect(report.transitions).toHaveLength(1);
  },

  'recoverOnStartup leaves the transition of a live owner to its owner, and asks no probe about it': async (yard) => {
    const neighbour = yard.start('neighbour');
    const own = journalled(neighbour);
    await ok(ensureSchema(own));
    const lease = await ok(acquireLease(own, { taskId: 2, actor: 'finalizer', stage: 'deploy' }));
    const hangUp = { effect: 'merge_pr', key: 'c0ffee', apply: () => Promise.reject(new Error('hang up')) };
    await failure(runEffect(own, lease, hangUp));
    let asked = 0;
    const probes = {
      merge_pr: (): ProbeAnswer => {
        asked += 1;
        return 'not-applied';
      },
    };
    const heir = journalled(yard.start('heir'));
    const report = await ok(recoverOnStartup(heir, { jobs: 'dead-only', probes }));
    expect(report).toMatchObject({ reclaimed: [], transitions: [], underWay: [2] });
    expect(asked).toBe(0);
    await yard.freeze(31_000);
    await moveOn(yard, 2);
    expect(await ok(recoverOnStartup(heir, { jobs: 'dead-only', probes }))).toMatchObject({
      reclaimed: [{ taskId: 2, reason: 'expired' }],
      transitions: [{ taskId: 2, decision: 'redrive' }],
      underWay: [],
    });
  },

  'recoverOnStartup changes nothing more when it runs again, and lists what is still to be done': async (yard) => {
    await ruins(yard);
    const own = journalled(yard.start('heir'));
    const first = await ok(recoverOnStartup(own, { jobs: 'dead-only' }));
    const after = await standing(yard);
    const again = await ok(recoverOnStartup(own, { jobs: 'dead-only' }));
    expect(await standing(yard)).toEqual(after);
    expect(again).toMatchObject({ jobs: { requeued: [], kept: [2] }, sanitized: { found: 0 }, reclaimed: [] });
    expect(again.transitions).toEqual(first.transitions);
  },

  'recoverOnStartup in several processes at once does everything once': async (yard) => {
    await ruins(yard);
    for (let task = 1; task <= 8; task += 1)
      await yard.put({ status: 'running', run_id: 1, pid: 4_000, pid_start: 'gone', host: 'here', started_at: 1_000 });
    const heirs = ['a', 'b', 'c'].map((name) => yard.start(name));
    const reports = await Promise.all(
      heirs.map((heir) => ok(recoverOnStartup(journalled(heir), { jobs: 'dead-only' }))),
    );
    const all = {
      requeued: reports.flatMap(({ jobs }) => jobs.requeued.map(({ jobId }) => jobId)).sort((a, b) => a - b),
      sanitized: reports.flatMap(({ sanitized }) => sanitized.sanitized.map(({ jobId }) => jobId)),
      reclaimed: reports.flatMap(({ reclaimed }) => reclaimed.map(({ taskId }) => taskId)).sort(),
    };
    expect(all).toEqual({ requeued: [1, 5, 6, 7, 8, 9, 10, 11, 12], sanitized: [3], reclaimed: [1, 2] });
    for (const { transitions } of reports) expect(transitions.map(({ taskId }) => taskId)).toEqual([1, 2]);
    expect((await standing(yard)).leases).toHaveLength(1);
  },

  'a row that fails does not stop the rest: it is reported, and the next run recovers it': async (yard) => {
    await ruins(yard);
    const heir = yard.start('heir');
    const own = journalled(heir);
    heir.wire.fault(RECLAIM, 'strange', 1);
    const report = await ok(recoverOnStartup(own, { jobs: 'dead-only' }));
    expect(report).toMatchObject({
      jobs: { requeued: [{ jobId: 1 }] },
      reclaimed: [{ taskId: 2 }],
      skipped: [{ taskId: 1 }],
      transitions: [{ taskId: 1 }, { taskId: 2 }],
      complete: false,
    });
    expect(heir.told('recovery.finished')).toMatchObject([{ reclaimed: 1, failed: 1 }]);
    expect(await ok(recoverOnStartup(own, { jobs: 'dead-only' }))).toMatchObject({
      reclaimed: [{ taskId: 1 }],
      skipped: [],
      complete: true,
    });
  },

  'a job that fails does not stop the rest: it is reported as skipped': async (yard) => {
    await ruins(yard);
    const heir = yard.start('heir');
    heir.wire.fault(/^update .jobs/s, 'strange', 1);
    const report = await ok(recoverOnStartup(journalled(heir), { jobs: 'dead-only' }));
    expect(report).toMatchObject({
      jobs: { requeued: [], skipped: [1] },
      sanitized: { sanitized: [{ jobId: 3 }] },
      reclaimed: [{ taskId: 1 }, { taskId: 2 }],
      complete: false,
    });
  },

  'a step that fails as a whole is a store failure, and the others are done all the same': async (yard) => {
    for (const [about, done] of [
      [EFFECTS, { requeued: 1, sanitized: 1, reclaimed: 2, held: 0, failed: 1 }],
      [/^select .*transition_lease.* limit [?$]/s, { requeued: 0, sanitized: 0, reclaimed: 0, held: 2, failed: 1 }],
    ] as const) {
      if (about === EFFECTS) await ruins(yard);
      const heir = yard.start(`heir of ${about}`);
      heir.wire.fault(about, 'strange');
      const failed = await failure(recoverOnStartup(journalled(heir), { jobs: 'dead-only' }));
      expect(failed).toMatchObject({ type: 'store-failure' });
      expect(heir.told('recovery.finished')).toMatchObject([done]);
    }
  },

  'recoverOnStartup without jobs and without a journal reclaims the leases, and has nothing else to do': async (
    yard,
  ) => {
    await ruins(yard);
    const heir = yard.start('heir');
    const report = await ok(recoverOnStartup(bare(heir), { jobs: 'dead-only' }));
    expect(report).toMatchObject({
      jobs: null,
      sanitized: null,
      reclaimed: [{ taskId: 1 }, { taskId: 2 }],
      transitions: [],
      underWay: [],
      complete: true,
    });
    expect(heir.wire.sent.some(({ sql }) => /jobs|transition_effect/.test(sql))).toBe(false);
  },

  'recoverOnStartup of all jobs takes the running jobs of live processes too': async (yard) => {
    await ruins(yard);
    const report = await ok(recoverOnStartup(journalled(yard.start('heir')), { jobs: 'all' }));
    expect(report.jobs.requeued.map(({ jobId }) => jobId)).toEqual([1, 2]);
    expect(await yard.job(2)).toMatchObject(cleared);
  },

  'recoverOnStartup under draining reclaims nothing, and under off does not look at the leases': async (yard) => {
    await ruins(yard);
    const draining = await ok(
      recoverOnStartup(journalled(yard.start('draining'), { mode: 'draining' }), { jobs: 'dead-only' }),
    );
    expect(draining).toMatchObject({
      sanitized: { sanitized: [{ jobId: 3 }] },
      reclaimed: [],
      transitions: [{ taskId: 1 }, { taskId: 2 }],
    });
    const off = yard.start('off');
    const report = await ok(recoverOnStartup(journalled(off, { mode: 'off' }), { jobs: 'dead-only' }));
    expect(report).toMatchObject({ reclaimed: [], transitions: [{ taskId: 1 }, { taskId: 2 }] });
    expect(off.wire.sent.some(({ sql }) => LEASES.test(sql))).toBe(false);
  },
  'recoverOnStartup forgets nothing: an owner that died after its last effect is listed again at each call': async (
    yard,
  ) => {
    const first = yard.start('first');
    const own = journalled(first);
    await ok(ensureSchema(own));
    const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', stage: 'deploy' }));
    await ok(runEffect(own, lease, { effect: 'merge_pr', key: 'c0ffee', apply: () => ({ sha: 'c0ffee' }) }));
    const bare = await ok(acquireLease(own, { taskId: 2, actor: 'monitor', stage: 'deploy' }));
    first.kill();
    const heir = journalled(yard.start('heir'));
    for (let call = 1; call <= 2; call += 1) {
      expect(await ok(recover(heir, { jobs: 'dead-only' }))).toMatchObject({
        reclaimed: [],
        transitions: [
          {
            taskId: 1,
            decision: 'converge',
            effects: [{ effect: 'merge_pr', state: 'applied' }],
            lease: { fencingToken: lease.fencingToken, verdict: 'dead', reason: 'process-gone', stage: 'deploy' },
          },
          { taskId: 2, decision: 'redrive', effects: [], lease: { fencingToken: bare.fencingToken } },
        ],
        complete: true,
      });
    }
    // Whoever redrives it replaces the lease; a task that has moved on leaves only a lease to delete.
    const next = await ok(acquireLease(heir, { taskId: 1, actor: 'finalizer', stage: 'deploy' }));
    await ok(updateStageCas(heir, { taskId: 1, expected: 'deploy', next: 'done', lease: next, release: true }));
    await moveOn(yard, 2);
    expect(await ok(recover(heir, { jobs: 'dead-only' }))).toMatchObject({
      reclaimed: [{ taskId: 2 }],
      transitions: [],
    });
    expect((await standing(yard)).leases).toEqual([]);
  },

  'abandonTransition gives up a transition whose owner is proved dead, by the token that was seen, and no other':
    async (yard) => {
      const first = yard.start('first');
      const own = journalled(first);
      await ok(ensureSchema(own));
      const lease = await ok(acquireLease(own, { taskId: 1, actor: 'finalizer', stage: 'deploy' }));
      const operator = yard.start('operator');
      const heir = journalled(operator);
      const order = { taskId: 1, by: 'ada', reason: 'the branch is gone' };
      expect(await failure(abandonTransition(heir, order))).toMatchObject({ type: 'lease-busy', verdict: 'live' });
      first.kill();
      const other = await failure(abandonTransition(heir, { ...order, fencingToken: 99 }));
      expect(other).toMatchObject({ type: 'token-mismatch' });
      expect(operator.told('operator.acted')).toEqual([]);
      const gone = await ok(abandonTransition(heir, { ...order, fencingToken: lease.fencingToken ?? 0 }));
      expect(gone).toMatchObject({ taskId: 1, fencingToken: lease.fencingToken, verdict: 'dead' });
      expect(operator.told('operator.acted')).toMatchObject([
        { action: 'abandon-transition', taskId: 1, by: 'ada', reason: 'the branch is gone' },
      ]);
      expect((await ok(recover(heir, { jobs: 'dead-only' }))).transitions).toEqual([]);
      expect(await failure(abandonTransition(heir, order))).toMatchObject({ type: 'already-free' });
    },
};

/** A process that is killed in a statement never gives its connection back, which some pools wait for at the end. */
export const killed: Proofs = {
  'recoverOnStartup that is killed at any statement is ended by the next': async (yard) => {
    let kills = 0;
    await ruins(yard);
    const before = await standing(yard);
    const whole = await ok(recoverOnStartup(journalled(yard.start('whole')), { jobs: 'dead-only' }));
    const after = await standing(yard);
    for (let at = 1; kills === at - 1; at += 1) {
      await restore(yard, before);
      const victim = yard.start(`victim ${at}`);
      const dead = killAfter(victim, at);
      const run = recoverOnStartup(journalled(victim), { jobs: 'dead-only' });
      kills += await Promise.race<number>([run.then(() => 0), dead.then(() => 1)]);
      victim.kill();
      await victim.db.destroy(); // as its death does: what it had open is rolled back
      const report = await ok(recoverOnStartup(journalled(yard.start(`heir ${at}`)), { jobs: 'dead-only' }));
      expect(report.transitions).toEqual(whole.transitions);
      expect(report.complete).toBe(true);
      expect(await standing(yard)).toEqual(after);
    }
    expect(kills).toBeGreaterThan(8);
  },
};
