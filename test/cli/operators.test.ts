import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Kind, kinds, mapping, type Place } from './places.js';
import { asked, begin, tool } from './tool.js';
import { type Wreckage, wreckage } from './wreckage.js';

const suite = ({ open }: Kind) => {
  let place: Place;
  let wreck: Wreckage;

  beforeEach(async () => {
    place = await open();
    wreck = await wreckage(place);
  });

  afterEach(async () => {
    void (await wreck.live.close({ deadlineMs: 0 }));
    await place[Symbol.asyncDispose]();
  });

  /** The tasks that are held; some drivers give big integers as text. */
  const held = async () => {
    const rows = await place.db.selectFrom('transition_lease').select('task_id').orderBy('task_id').execute();
    return rows.map(({ task_id }) => `${task_id}`);
  };
  const job = async (id: number) => {
    const row = await place.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    return { ...row, pid: row.pid === null ? null : `${row.pid}` };
  };

  test('status shows each holder with its verdict and reason, as an outside observer, and ends with 1', async () => {
    const { code, document } = await asked('status', ...place.database);
    const { tokens, dead } = wreck;
    expect(document).toMatchObject({
      command: 'status',
      attention: 2,
      leases: [
        { taskId: 1, fencingToken: tokens[1], actor: 'finalizer', stage: 'deploy', runId: 7, pid: process.pid },
        { taskId: 2, fencingToken: tokens[2], actor: 'monitor', pid: dead, verdict: 'dead', reason: 'process-gone' },
        { taskId: 3, verdict: 'dead', reason: 'expired' },
        { taskId: 4, host: 'boot/pid/time/other-host', verdict: 'live', reason: 'unexpired' },
      ],
    });
    expect(document).toMatchObject({
      leases: [{ verdict: 'live', reason: 'process-alive', sameProcess: false }, {}, {}, {}],
    });
    expect(JSON.stringify(document)).not.toContain('claim"');
    expect(code).toBe(1);
  });

  test('status prints a table of them', async () => {
    const { stdout, stderr } = await tool('status', ...place.database);
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual([
      'task',
      'token',
      'actor',
      'stage',
      'run',
      'owner',
      'age',
      'expires in',
      'verdict',
      'reason',
    ]);
    expect(rows[2]?.slice(2, 5)).toEqual(['monitor', 'deploy', '-']);
    expect(rows[2]?.slice(8)).toEqual(['dead', 'process-gone']);
    expect(rows[4]?.[5]).toBe(`${process.pid}@other-host`);
    expect(stdout).toContain('4 leases. 2 of them want attention: doctor explains.');
    expect(stderr).toBe('');
  });

  test('status says of a clock that was set back that the holder is live, and ends with 1', async () => {
    await place.db.deleteFrom('transition_lease').where('task_id', 'in', [2, 3]).execute();
    await place.db
      .updateTable('transition_lease')
      .set(({ eb }) => ({ expires_ms: eb('expires_ms', '+', 10_000_000) }))
      .where('task_id', '=', 4)
      .execute();
    const { code, document } = await asked('status', ...place.database);
    expect(document).toMatchObject({ attention: 1, leases: [{}, { verdict: 'live', reason: 'clock-set-back' }] });
    expect(code).toBe(1);
  });

  test('status goes by times alone where the application does', async () => {
    const config = place.config({ liveness: 'heartbeat-only' });
    const { code, document } = await asked('status', ...place.database, ...config);
    const reasons = (document as { leases: { reason: string }[] }).leases.map(({ reason }) => reason);
    expect(reasons).toEqual(['unexpired', 'unexpired', 'expired', 'unexpired']);
    expect(code).toBe(1);
  });

  test('status ends with 0 when every holder is live, and when there is none', async () => {
    await place.db.deleteFrom('transition_lease').where('task_id', 'in', [2, 3]).execute();
    expect((await tool('status', ...place.database)).code).toBe(0);
    await place.db.deleteFrom('transition_lease').execute();
    const { code, stdout } = await tool('status', ...place.database);
    expect([code, stdout]).toEqual([0, 'No one holds a transition.\n']);
  });

  test('watch looks again until it is interrupted, and ends as its last look', async () => {
    const watching = begin(['watch', ...place.database, '--json', '--every', '0.1']);
    await watching.lines(2);
    await place.db.deleteFrom('transition_lease').where('task_id', 'in', [2, 3]).execute();
    const seen = (await watching.lines(2)).length;
    const later = await watching.lines(seen + 2); // One look may have begun before the rows went.
    watching.interrupt();
    expect(later.map((line) => (JSON.parse(line) as { attention: number }).attention)).toEqual(
      expect.arrayContaining([2, 0]),
    );
    expect((await watching.ended).code).toBe(0);
  });

  test('doctor explains stale leases, impossible jobs and unfinished effects, and ends with 1', async () => {
    const { code, document } = await asked('doctor', ...place.database, ...place.config(mapping));
    const { tokens, dead } = wreck;
    expect(document).toMatchObject({
      command: 'doctor',
      failures: [],
      findings: expect.arrayContaining([
        expect.objectContaining({
          code: 'lease-process-gone',
          severity: 'warning',
          taskId: 2,
          fencingToken: tokens[2],
        }),
        expect.objectContaining({ code: 'lease-expired', taskId: 3 }),
        expect.objectContaining({
          code: 'impossible-queued',
          jobId: 3,
          message: expect.stringContaining(`pid ${dead}`) as unknown,
        }),
        expect.objectContaining({ code: 'unfinished-effect', taskId: 2, effect: 'merge_pr', key: 'c0ffee' }),
      ]) as unknown,
    });
    expect(JSON.stringify(document)).not.toContain('dead-run');
    expect(code).toBe(1);
  });

  test('doctor takes bare pids of job rows for evidence only by the word of the operator', async () => {
    const { document } = await asked('doctor', ...place.database, ...place.config(mapping), '--this-host');
    const { findings } = document as { findings: { code: string; jobId?: number }[] };
    expect(findings.filter(({ code }) => code === 'dead-run').map(({ jobId }) => jobId)).toEqual([1]);
    expect(findings.map(({ code }) => code)).not.toContain('bare-pids');
  });

  test('doctor says that it took no bare pid for evidence, and how to say that it may', async () => {
    const { stdout } = await tool('doctor', ...place.database, ...place.config(mapping));
    expect(stdout).toMatch(/^advice +bare-pids: Bare pids of job rows prove nothing here: .* say --this-host\.$/m);
  });

  test('doctor ends with 0 where nothing is wrong', async () => {
    await place.db.deleteFrom('transition_lease').where('task_id', 'in', [2, 3]).execute();
    await place.db.deleteFrom('transition_effect').execute();
    await place.db.deleteFrom('jobs').where('id', 'in', [1, 3]).execute();
    const { code, stdout } = await tool('doctor', ...place.database, ...place.config(mapping), '--this-host');
    expect(stdout).toMatch(/Nothing is wrong\.\n$/);
    expect(code).toBe(0);
  });

  test('release takes the lease by the token that was seen, says by whom and why, and ends with 0', async () => {
    const order = ['release', ...place.database, '--task', '4', '--reason', 'the host burnt'];
    const { code, document } = await asked(...order, '--token', String(wreck.tokens[4]), '--by', 'ada');
    expect(document).toMatchObject({
      command: 'release',
      outcome: 'released',
      by: 'ada',
      reason: 'the host burnt',
      holder: { taskId: 4, fencingToken: wreck.tokens[4], actor: 'webhook' },
    });
    expect(document).not.toHaveProperty('holder.claim');
    expect(code).toBe(0);
    expect(await held()).toEqual(['1', '2', '3']);
  });

  test('release of another token, or of a free task, releases nothing and ends with 1', async () => {
    const before = await place.standing();
    const order = (...more: string[]) => tool('release', ...place.database, '--reason', 'stuck', ...more);
    const other = await order('--task', '4', '--token', '999');
    expect(other).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Token 999 does not hold the task') as unknown,
    });
    const free = await order('--task', '77', '--token', '1');
    expect(free).toMatchObject({ code: 1, stdout: expect.stringContaining('held by no one') as unknown });
    expect(await place.standing()).toBe(before);
  });

  test('sanitize clears impossible jobs, in a dry run only shows them', async () => {
    const order = ['sanitize', ...place.database, ...place.config(mapping)];
    const before = await place.standing();
    const dry = await asked(...order, '--dry-run');
    const impossible = { jobId: 3, taskId: 9, runId: 72, pid: wreck.dead };
    expect(dry).toMatchObject({ code: 1, document: { dryRun: true, found: 1, sanitized: [impossible] } });
    expect(await place.standing()).toBe(before);
    const done = await asked(...order);
    expect(done).toMatchObject({
      code: 0,
      document: { dryRun: false, found: 1, sanitized: [impossible], skipped: [] },
    });
    expect(await job(3)).toMatchObject({ status: 'queued', run_id: null, pid: null, started_at: null });
    expect(await asked(...order, '--dry-run')).toMatchObject({ code: 0, document: { found: 0 } });
  });

  test('recover does what its dry run showed, and leaves what may live', async () => {
    const order = ['recover', ...place.database, ...place.config(mapping), '--this-host'];
    const before = await place.standing();
    const dry = await asked(...order, '--dry-run');
    expect(dry.code).toBe(1);
    expect(await place.standing()).toBe(before);
    const { code, document } = await asked(...order);
    expect(document).toEqual({ ...(dry.document as object), dryRun: false });
    expect(document).toMatchObject({
      jobs: { requeued: [{ jobId: 1, pid: wreck.dead }], kept: [2], skipped: [] },
      sanitized: { found: 1 },
      reclaimed: [],
      transitions: [
        {
          taskId: 2,
          decision: 'hold',
          effects: [{ effect: 'merge_pr', key: 'c0ffee' }],
          lease: { reason: 'process-gone' },
        },
        { taskId: 3, decision: 'redrive', effects: [], lease: { reason: 'expired' } },
      ],
      complete: true,
    });
    expect(JSON.stringify(document)).not.toContain('"claim"');
    expect(code).toBe(1); // The effect still waits for a word, and both transitions for who goes on with them.
    expect(await held()).toEqual(['1', '2', '3', '4']);
    expect(await job(1)).toMatchObject({ status: 'queued', run_id: null, pid: null });
    expect(await job(2)).toMatchObject({ status: 'running', pid: `${process.pid}` });
    await place.db.deleteFrom('transition_effect').execute();
    await place.db.deleteFrom('transition_lease').where('task_id', 'in', [2, 3]).execute();
    expect((await asked(...order, '--dry-run')).code).toBe(0);
  });

  test('recover takes no job from a run by a bare pid, whatever singleHost says of the host of the application', async () => {
    const { stdout } = await tool('recover', ...place.database, ...place.config(mapping));
    expect(stdout).toContain('0 jobs of dead runs queued again; 2 kept.\nBare pids of job rows prove nothing here');
    expect(await job(1)).toMatchObject({ status: 'running', pid: `${wreck.dead}` });
  });

  test('status, watch, doctor and dry runs change no row', async () => {
    const before = await place.standing();
    const config = place.config(mapping);
    for (const order of [
      ['status'],
      ['doctor', ...config],
      ['sanitize', ...config, '--dry-run'],
      ['recover', ...config, '--this-host', '--dry-run'],
    ]) {
      expect((await tool(...order, ...place.database)).code).toBe(1);
      expect(await place.standing(), order[0]).toBe(before);
    }
    const watching = begin(['watch', ...place.database, '--json', '--every', '0.1']);
    await watching.lines(2);
    watching.interrupt();
    expect((await watching.ended).code).toBe(1);
    expect(await place.standing(), 'watch').toBe(before);
  });

  test('a table that is missing is told in one sentence, and what can be shown without it is shown', async () => {
    await place.db.schema.dropTable('jobs').execute();
    const config = place.config(mapping);
    const seen = await tool('doctor', ...place.database, ...config);
    expect(seen.stdout).toContain('lease-process-gone');
    expect(seen.stdout).toContain('unfinished-effect');
    expect(seen.stderr).toMatch(/^transition-ownership: The jobs cannot be read: .*jobs.*\n$/);
    expect(seen.code).toBe(2);
    const { document } = await asked('doctor', ...place.database, ...config);
    expect(document).toMatchObject({ failures: [expect.stringMatching(/^The jobs cannot be read: /)] });
    expect((await tool('status', ...place.database, ...config)).code).toBe(1);
    const before = await held();
    const recovered = await tool('recover', ...place.database, ...config);
    expect(recovered).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Nothing was changed: ') as unknown,
    });
    expect(await held()).toEqual(before);
    await place.db.schema.dropTable('transition_lease').execute();
    const bare = await tool('status', ...place.database);
    expect(bare.stderr).toMatch(
      /^transition-ownership: The leases cannot be read: .*transition_lease.* ensureSchema .*\n$/,
    );
    expect(bare).toMatchObject({ code: 2, stdout: '' });
  });

  test('without the lease table doctor still shows what is wrong with queued jobs', async () => {
    await place.db.schema.dropTable('transition_lease').execute();
    const { code, document } = await asked('doctor', ...place.database, ...place.config(mapping));
    const { findings } = document as { findings: readonly { code: string; severity: string }[] };
    const wrong = findings.filter(({ severity }) => severity !== 'advice').map(({ code: what }) => what);
    expect(wrong).toEqual(['table-missing', 'impossible-queued']);
    expect(code).toBe(2);
  });
};

for (const kind of Object.values(kinds)) {
  describe.skipIf(kind.missing !== undefined)(`the tool on ${kind.name}`, () => suite(kind));
}
