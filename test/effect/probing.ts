import { NotApplied, type ProbeAnswer, releaseLease, runEffect } from 'transition-ownership';
import { expect } from 'vitest';
import { err, ok, type Proofs } from '../rig/proofs.js';
import type { Rig } from '../rig/rig.js';
import { begin, journal, journalled, TAKE_OVER, take } from './outside.js';

/** An effect that one process started and did not finish; another holds the task now. */
async function brokenOff(rig: Rig) {
  const [a, b] = [rig.start('a'), rig.start('b')];
  const first = await begin(a);
  await err(
    runEffect(
      first.own,
      first.lease,
      first.outside.merging({ apply: () => Promise.reject(new Error('the process went down')) }),
    ),
  );
  await ok(releaseLease(first.own, first.lease));
  rig.time.freeze(5_000);
  const second = await begin(b);
  return { a, b, first, ...second, since: rig.time.databaseMs - 5_000 };
}

/** What a probe decides about an effect that was started and is not known to be applied. */
export const probing: Proofs = {
  'started, and the probe says applied: it is marked and converged, and apply is not called': async (rig) => {
    const { b, first, own, lease, outside } = await brokenOff(rig);
    expect(await ok(runEffect(own, lease, outside.merging({ probe: () => 'applied' })))).toEqual({
      status: 'already-applied',
      value: null,
    });
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toMatchObject([
      { state: 'applied', result: 'null', fencing_token: first.lease.fencingToken, applied_ms: rig.time.databaseMs },
    ]);
    expect(b.told('effect.applied')).toMatchObject([{ by: 'probe', fencingToken: first.lease.fencingToken }]);
    expect(b.told('effect.started')).toEqual([]);
  },

  'started, and the probe says not-applied: the start is taken over, and the effect applied once': async (rig) => {
    const { b, first, own, lease, outside } = await brokenOff(rig);
    const before = journal(rig)[0];
    expect(await ok(runEffect(own, lease, outside.merging({ probe: outside.look })))).toEqual({
      status: 'applied',
      value: { sha: 'merged-1' },
    });
    expect(outside.applied).toHaveLength(1);
    const rows = journal(rig);
    expect(rows).toMatchObject([
      { state: 'applied', fencing_token: lease.fencingToken, started_ms: rig.time.databaseMs, owner: 'finalizer' },
    ]);
    expect(rows[0]?.['claim']).not.toBe(before?.['claim']);
    expect(lease.fencingToken).toBeGreaterThan(first.lease.fencingToken ?? 0);
    expect(b.told('effect.started')).toHaveLength(1);
  },

  'started, and the probe cannot tell: held, with the time of the start, and left as it is': async (rig) => {
    const { b, own, lease, outside, since } = await brokenOff(rig);
    const before = journal(rig);
    const answers: (() => ProbeAnswer | Promise<ProbeAnswer>)[] = [
      () => 'unknown',
      () => Promise.reject(new Error('503')),
      () => {
        throw new Error('503');
      },
      () => 'perhaps' as ProbeAnswer,
      () => undefined as unknown as ProbeAnswer,
    ];
    for (const probe of answers) {
      expect(await err(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({
        type: 'effect-unknown',
        taskId: 1,
        effect: 'merge_pr',
        key: 'c0ffee',
        since,
      });
    }
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toEqual(before);
    expect(b.told('effect.unknown')).toHaveLength(answers.length);
    expect(b.told('effect.unknown').map(({ message }) => message)).toMatchObject([
      expect.stringContaining('its probe does not know'),
      expect.stringContaining('its probe threw: 503'),
      expect.stringContaining('its probe threw: 503'),
      expect.stringContaining('its probe returned "perhaps"'),
      expect.stringContaining('its probe returned undefined'),
    ]);
  },

  'started, and no probe: held, and never repeated on a guess': async (rig) => {
    const { own, lease, outside, since } = await brokenOff(rig);
    for (let times = 0; times < 3; times += 1)
      expect(await err(runEffect(own, lease, outside.merging()))).toMatchObject({ type: 'effect-unknown', since });
    expect(outside.applied).toEqual([]);
  },

  'the probe is asked about the very start: its task, effect, key, token and idempotency key': async (rig) => {
    const { first, own, lease, outside } = await brokenOff(rig);
    const questions: unknown[] = [];
    await ok(
      runEffect(
        own,
        lease,
        outside.merging({
          probe: (question: unknown) => {
            questions.push(question);
            return 'not-applied';
          },
        }),
      ),
    );
    expect(questions).toEqual([
      {
        taskId: 1,
        effect: 'merge_pr',
        key: 'c0ffee',
        fencingToken: first.lease.fencingToken,
        idempotencyKey: outside.applied[0]?.idempotencyKey,
      },
    ]);
  },

  'a start that is taken over and certainly did nothing is struck': async (rig) => {
    const { own, lease, outside } = await brokenOff(rig);
    const refused = outside.merging({
      probe: () => 'not-applied',
      apply: () => Promise.reject(new NotApplied('refused')),
    });
    expect(await err(runEffect(own, lease, refused))).toMatchObject({ type: 'effect-failed' });
    expect(journal(rig)).toEqual([]);
  },

  'taking over is fenced: a lease that was taken while the probe was asked takes nothing over': async (rig) => {
    const { own, lease, outside } = await brokenOff(rig);
    const before = journal(rig);
    const probe = () => {
      rig.run('delete from transition_lease');
      return 'not-applied' as const;
    };
    expect(await err(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({ type: 'lease-lost' });
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toEqual(before);
  },

  'taking over compares: a start that another made while the probe was asked is asked about again': async (rig) => {
    const { own, lease, outside } = await brokenOff(rig);
    const asked: unknown[] = [];
    const probe = ({ fencingToken }: { fencingToken: number | null }): ProbeAnswer => {
      asked.push(fencingToken);
      if (asked.length > 1) return 'unknown';
      rig.run(`update transition_effect set claim = 'another', fencing_token = 77`);
      return 'not-applied';
    };
    expect(await err(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({ type: 'effect-unknown' });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toBe(77);
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toMatchObject([{ claim: 'another', state: 'started' }]);
  },

  'taking over is fenced: a lease that another took while the start was written takes nothing over': async (rig) => {
    const { b, own, lease, outside } = await brokenOff(rig);
    const before = journal(rig);
    const other = await journalled(rig.start('c'));
    b.wire.meanwhile(TAKE_OVER, async (run) => {
      rig.run('delete from transition_lease');
      await take(other);
      await run();
    });
    const probe = outside.look;
    expect(await err(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({
      type: 'lease-lost',
      reason: 'superseded',
    });
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toEqual(before);
  },

  'taking over is written only while the database says that the lease has the time': async (rig) => {
    const { b, own, lease, outside } = await brokenOff(rig);
    b.wire.meanwhile(TAKE_OVER, async (run) => {
      rig.time.databaseMs += 25_000;
      await run();
    });
    const probe = outside.look;
    expect(await err(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({ type: 'not-enough-time' });
    expect(outside.applied).toEqual([]);
  },

  'a mark compares: a start that another made while the probe was asked is asked about again': async (rig) => {
    const { own, lease, outside } = await brokenOff(rig);
    let asked = 0;
    const probe = (): ProbeAnswer => {
      asked += 1;
      if (asked > 1) return 'unknown';
      rig.run(`update transition_effect set claim = 'another'`);
      return 'applied';
    };
    expect(await err(runEffect(own, lease, outside.merging({ probe })))).toMatchObject({ type: 'effect-unknown' });
    expect(journal(rig)).toMatchObject([{ claim: 'another', state: 'started' }]);
  },

  'a mark of what was never started gives way to a start that came meanwhile': async (rig) => {
    const { own, lease, outside } = await brokenOff(rig);
    let asked = 0;
    const probe = (): ProbeAnswer => {
      asked += 1;
      if (asked > 1) return 'unknown';
      rig.run(`update transition_effect set key = 'other', claim = 'another'`);
      return 'applied';
    };
    expect(await err(runEffect(own, lease, outside.merging({ key: 'other', probe })))).toMatchObject({
      type: 'effect-unknown',
    });
    expect(asked).toBe(2);
    expect(journal(rig)).toMatchObject([{ key: 'other', claim: 'another', state: 'started' }]);
  },

  'an answer of the probe is not written over what the owner wrote meanwhile': async (rig) => {
    const { own, lease, outside } = await brokenOff(rig);
    for (const answer of ['applied', 'not-applied'] as const) {
      rig.run(`update transition_effect set state = 'started', result = null, applied_ms = null`);
      const probe = () => {
        rig.run(`update transition_effect set state = 'applied', result = '{"sha":"late"}', applied_ms = 1`);
        return answer;
      };
      expect(await ok(runEffect(own, lease, outside.merging({ probe })))).toEqual({
        status: 'already-applied',
        value: { sha: 'late' },
      });
    }
    expect(outside.applied).toEqual([]);
    expect(journal(rig)).toMatchObject([{ state: 'applied', result: '{"sha":"late"}' }]);
  },

  'an effect that changes hands at every try is held': async (rig) => {
    const { own, lease, outside } = await brokenOff(rig);
    let changes = 0;
    const probe = () => {
      changes += 1;
      rig.run(`update transition_effect set claim = ?`, `another-${changes}`);
      return 'not-applied' as const;
    };
    const held = await err(runEffect(own, lease, outside.merging({ probe })));
    expect(held).toMatchObject({ type: 'effect-unknown' });
    expect(held.message).toContain('it changed hands at every try');
    expect(outside.applied).toEqual([]);
  },

  'a second task has its own effects': async (rig) => {
    const { own, outside } = await brokenOff(rig);
    const lease = await take(own, 2);
    expect(await ok(runEffect(own, lease, outside.merging()))).toMatchObject({ status: 'applied' });
  },
};
