import { describe, expect, test } from 'vitest';
import { checkSpec } from '../../src/testing/check/spec.js';
import { type Bounds, type Mutation, protocol } from './protocol.js';

const two: Bounds = { processes: 2, stages: 2, crashes: 1, failedReleases: 0, operatorReleases: 0, oneHost: true };
const failing: Bounds = { ...two, stages: 1, failedReleases: 1 };
const three: Bounds = { ...two, processes: 3, stages: 1, crashes: 0 };
const operated: Bounds = { ...two, stages: 1, operatorReleases: 1 };
const apart: Bounds = { ...two, stages: 1, oneHost: false };

describe('the protocol', () => {
  test.each([
    ['two processes, two stages, a crash', two],
    ['two processes, a crash, a failed release', failing],
    ['two processes, a crash, an operator', operated],
    ['two processes on two hosts, a crash', apart],
    ['three processes', three],
  ])('keeps every invariant and can always end: %s', { timeout: 120_000 }, (_name, bounds) => {
    const report = checkSpec(protocol(bounds));
    expect(report).not.toHaveProperty('violated');
    expect(report).not.toHaveProperty('stuck');
    expect(report.states).toBeGreaterThan(1_000);
  });
});

const undisputed = 'at most one owner is undisputed';
const fenced = 'the stage is written by the owner of the row alone';

describe('the protocol without one of its guards', () => {
  test.each<[Mutation, Bounds, string]>([
    ['stage write without the fence', two, fenced],
    ['release by task', two, undisputed],
    ['reclaim without the claim', two, undisputed],
    ['reclaim without the expiry', two, undisputed],
    ['renewal by task', two, undisputed],
    ['trust from the reply', two, undisputed],
  ])(
    '%s: two owners, or a stranger at the stage, by a shortest way',
    { timeout: 120_000 },
    (mutation, bounds, violated) => {
      const report = checkSpec(protocol(bounds, mutation));
      expect(report.violated).toBe(violated);
      expect(report.trace?.length).toBeLessThan(20);
    },
  );

  test.each<[Mutation, Bounds]>([
    ['pid keeps alive', two],
    ['expiry is ignored', apart],
  ])('%s: the task is stuck for ever', { timeout: 120_000 }, (mutation, bounds) => {
    expect(checkSpec(protocol(bounds, mutation)).stuck).toBe(true);
  });
});
