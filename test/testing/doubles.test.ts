import { describe, expect, test } from 'vitest';
import { fixedIdentity, manualClock, recordEvents } from '../../src/testing/index.js';

describe('manualClock', () => {
  test('stands still until it is moved, then calls what is due in order of time', () => {
    const clock = manualClock(5_000);
    const called: string[] = [];
    clock.schedule(20, () => called.push(`b at ${clock.wallMs()}`));
    clock.schedule(10, () => called.push(`a at ${clock.wallMs()}`));
    clock.schedule(15, () => called.push('never')).cancel();
    clock.advance(9);
    expect(called).toEqual([]);
    clock.advance(11);
    expect(called).toEqual(['a at 5010', 'b at 5020']);
    expect(clock.scheduled).toBe(0);
  });

  test('calls what a call schedules, if it is due as well', () => {
    const clock = manualClock();
    let ticks = 0;
    const tick = () => {
      ticks += 1;
      clock.schedule(10, tick);
    };
    tick();
    clock.advance(35);
    expect(ticks).toBe(4);
  });

  test('wakes a sleeper', async () => {
    const clock = manualClock();
    const slept = clock.sleep(50);
    clock.advance(50);
    await slept;
    expect(clock.monotonicMs()).toBe(50);
  });

  test('lets the wall clock alone be set back', () => {
    const clock = manualClock(1_000);
    clock.setWall(-400);
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([600, 0]);
  });
});

describe('fixedIdentity', () => {
  const me = fixedIdentity({ pid: 7, host: 'h' });

  test('sameHost is another process beside it', () => {
    expect(me.sameHost()).toMatchObject({ pid: 8, host: 'h', bootId: 'boot-2', start: 'start-2' });
  });

  test('pidReused has its pid and host and nothing else', () => {
    expect(me.pidReused()).toMatchObject({ pid: 7, host: 'h', bootId: 'boot-2', start: 'start-2' });
  });

  test('rebooted has another pid, start and boot id', () => {
    expect(me.rebooted().rebooted()).toMatchObject({ pid: 9, bootId: 'boot-3', start: 'start-3' });
  });

  test('elsewhere has its pid on another host', () => {
    expect(me.elsewhere()).toMatchObject({ pid: 7, host: 'h-2' });
  });
});

describe('recordEvents', () => {
  test('keeps what it hears, by type', () => {
    const heard = recordEvents();
    heard.onEvent({
      type: 'stage.changed',
      severity: 'info',
      taskId: 1,
      from: 'a',
      to: 'b',
      fencingToken: 1,
      actor: null,
    });
    expect(heard.of('stage.changed')[0]?.to).toBe('b');
    expect(heard.of('lease.lost')).toEqual([]);
    heard.clear();
    expect(heard.events).toEqual([]);
  });
});
