import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import * as library from 'transition-ownership';
import { openSqlite } from 'transition-ownership/sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/system/clock.js';
import { processIdentity } from '../../src/system/process-scope.js';
import { systemProcesses } from '../../src/system/process-table.js';
import { err, ok } from '../rig/proofs.js';
import { type Tables, tasks } from '../rig/rig.js';

const SHARED = Symbol.for('transition-ownership.process.v1');
const shared = globalThis as {
  [SHARED]?: { claims: Map<string, unknown>; identity: library.ProcessIdentity | undefined };
};

describe('with nothing but its defaults, on a file that openSqlite opened', () => {
  let folder = '';
  let db: Kysely<Tables>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ownership-'));
    db = new Kysely<Tables>({ dialect: openSqlite(join(folder, 'orchestrator.sqlite')) });
    await sql`create table tasks (id integer primary key, stage text, updated_at text, note text)`.execute(db);
    await sql`insert into tasks (id) values (1), (2), (3)`.execute(db);
    await ok(library.ensureSchema(library.createTransitionOwnership({ db, tasks })));
  });

  afterEach(async () => {
    await db.destroy();
    rmSync(folder, { recursive: true });
  });

  test('two ownerships of one process know each other’s claims', async () => {
    const [first, second] = [
      library.createTransitionOwnership({ db, tasks }),
      library.createTransitionOwnership({ db, tasks }),
    ];
    await using _lease = await ok(library.acquireLease(first, { taskId: 1, actor: 'monitor' }));
    expect(await err(library.acquireLease(second, { taskId: 1, actor: 'reaper' }))).toMatchObject({
      type: 'lease-busy',
      reason: 'claim-registered',
    });
    expect(second.identity).toBe(first.identity);
  });

  test('two copies of the package in one process know each other’s claims', async () => {
    vi.resetModules();
    const copy = await import('transition-ownership');
    expect(copy.acquireLease).not.toBe(library.acquireLease);
    const [first, second] = [
      library.createTransitionOwnership({ db, tasks }),
      copy.createTransitionOwnership({ db, tasks }),
    ];
    const lease = await ok(library.acquireLease(first, { taskId: 1, actor: 'monitor' }));
    expect(await err(copy.acquireLease(second, { taskId: 1, actor: 'reaper' }))).toMatchObject({
      reason: 'claim-registered',
    });
    expect(await ok(library.releaseLease(first, lease))).toBe('released');
    await using _lease = await ok(copy.acquireLease(second, { taskId: 1, actor: 'reaper' }));
    expect(await err(library.acquireLease(first, { taskId: 1, actor: 'monitor' }))).toMatchObject({
      reason: 'claim-registered',
    });
  });

  test('the clock of the database is the clock of this machine, in milliseconds', async () => {
    const own = library.createTransitionOwnership({ db, tasks });
    const before = Date.now();
    await using lease = await ok(library.acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(lease.acquiredAtMs).toBeGreaterThanOrEqual(before);
    expect(lease.acquiredAtMs).toBeLessThanOrEqual(Date.now());
  });

  test('a lease that is held keeps no process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const own = library.createTransitionOwnership({ db, tasks });
    await using _lease = await ok(library.acquireLease(own, { taskId: 1, actor: 'monitor' }));
    expect(timers()).toBe(before);
  });
});

describe('the scope of the process on globalThis', () => {
  test('has the shape that every version of the package relies on', () => {
    processIdentity();
    expect(Object.keys(shared[SHARED] ?? {})).toEqual(['claims', 'identity']);
    expect(shared[SHARED]?.claims).toBeInstanceOf(Map);
  });

  test('is asked for an identity once: a boot id of its own, its pid, its start mark and its host', () => {
    const identity = processIdentity();
    expect(processIdentity()).toBe(identity);
    expect(Object.isFrozen(identity)).toBe(true);
    expect(identity.bootId).toMatch(/^[0-9a-f-]{36}$/);
    expect(identity.pid).toBe(process.pid);
  });

  test('that came with the memory of another process gives a new identity', () => {
    const scope = shared[SHARED];
    if (scope?.identity === undefined) throw new Error('the identity was asked for before');
    const inherited = Object.freeze({ ...scope.identity, pid: process.pid + 1 });
    scope.identity = inherited;
    const own = processIdentity();
    expect(own.pid).toBe(process.pid);
    expect(own.bootId).not.toBe(inherited.bootId);
  });
});

describe('systemProcesses.sight', () => {
  const failing = (code: string) => {
    vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
  };

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('sees this process, with the start mark that its leases carry', () => {
    const { start } = processIdentity();
    expect(systemProcesses.sight(process.pid)).toEqual({ state: 'exists', start });
  });

  test('takes ESRCH for gone', () => {
    failing('ESRCH');
    expect(systemProcesses.sight(process.pid).state).toBe('gone');
  });

  test('takes EPERM for exists', () => {
    failing('EPERM');
    expect(systemProcesses.sight(process.pid).state).toBe('exists');
  });

  test.each(['EINVAL', 'EWHATEVER'])('takes %s for unknown', (code) => {
    failing(code);
    expect(systemProcesses.sight(process.pid)).toEqual({ state: 'unknown', start: null });
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 60])('asks nobody about %d', (pid) => {
    const kill = vi.spyOn(process, 'kill');
    expect(systemProcesses.sight(pid)).toEqual({ state: 'unknown', start: null });
    expect(kill).not.toHaveBeenCalled();
  });

  test('asks by signal 0, which reaches nobody', () => {
    const kill = vi.spyOn(process, 'kill');
    systemProcesses.sight(process.pid);
    expect(kill.mock.calls).toEqual([[process.pid, 0]]);
  });
});

describe('systemClock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('calls after thirty days, and not at once as a native timer would', () => {
    vi.useFakeTimers();
    const thirtyDaysMs = 30 * 86_400_000;
    const call = vi.fn();
    systemClock.schedule(thirtyDaysMs, call);
    vi.advanceTimersByTime(thirtyDaysMs - 1);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(call).toHaveBeenCalledOnce();
  });

  test('takes a call back, also beyond the reach of one native timer', () => {
    vi.useFakeTimers();
    const call = vi.fn();
    const scheduled = systemClock.schedule(30 * 86_400_000, call);
    vi.advanceTimersByTime(29 * 86_400_000);
    scheduled.cancel();
    scheduled.cancel();
    vi.advanceTimersByTime(86_400_000_0);
    expect(call).not.toHaveBeenCalled();
  });

  test('never goes back, and tells the wall apart from it', () => {
    const first = systemClock.monotonicMs();
    expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(first);
    expect(Math.abs(systemClock.wallMs() - Date.now())).toBeLessThan(1_000);
  });
});
