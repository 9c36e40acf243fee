import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EVENT_METRICS, GAUGES, HISTOGRAMS, type Metric } from '../../src/core/metrics.js';
import { testIf } from '../process/permitted.js';

const folder = 'examples/observability';
const read = (name: string): string => readFileSync(`${folder}/${name}`, 'utf8');
const alerts = [...read('alerts.yml').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const promtoolTest = testIf(hasPromtool, 'no promtool is installed (package prometheus)');
const promtool = (...line: string[]): string =>
  execFileSync('promtool', line, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

describe('the alert rules', () => {
  promtoolTest('are rules of Prometheus', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  promtoolTest('fire on what they are for, and not on a quiet day', () => {
    expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
  });

  test('are each tried twice, and explained', () => {
    expect(alerts.length).toBeGreaterThan(10);
    const text = read('alerts.test.yml');
    const quiet = [...text.matchAll(/alertname: (\w+), exp_alerts: \[\]/g)].map(([, name]) => name);
    const fired = [...text.matchAll(/alertname: (\w+)\n +exp_alerts:\n +- exp_labels/g)].map(([, name]) => name);
    const explained = [...read('README.md').matchAll(/^\| `(Transition\w+)` \|/gm)].map(([, name]) => name);
    for (const names of [quiet, fired, explained]) expect(names).toEqual(alerts);
  });
});

test('the alerts and the dashboard ask for metrics that there are', () => {
  const spelled = ({ name, unit }: Metric) => `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`;
  const known = new Set([
    ...Object.values(EVENT_METRICS).map((metric) => `${spelled(metric)}_total`),
    ...Object.values(GAUGES).map(spelled),
    ...Object.values(HISTOGRAMS).map((metric) => `${spelled(metric)}_bucket`),
  ]);
  const labels = ['verdict', 'reason', 'effect_name'].map((name) => `transition_ownership_${name}`);
  const dashboard = JSON.parse(read('dashboard.json')) as { panels: { targets?: { expr: string }[] }[] };
  const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const rules = [...read('alerts.yml').matchAll(/^ +expr: (?:\|\n((?: {10}.*\n)+)|(.*))/gm)].map(
    ([, block, line]) => block ?? line ?? '',
  );
  expect(rules).toHaveLength(alerts.length);
  const asked = [...queries, ...rules].flatMap((text) => text.match(/transition_ownership_\w+/g) ?? []);
  expect(asked.length).toBeGreaterThan(40);
  expect(asked.filter((name) => !known.has(name) && !labels.includes(name))).toEqual([]);
});
