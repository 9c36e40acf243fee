import { FAULTS } from './plan.js';
import { byEffect } from './rules.js';
import type { TortureOptions, TortureReport } from './torture.js';

const MAX_SHOWN = 10;

/** What a run did and found, for people. */
export function table({ forMs, seed, workers }: TortureOptions, report: TortureReport): string {
  const { server, faults, told, evidence, findings } = report;
  const { history, effects } = evidence;
  const times = (kind: string) => history.filter((row) => row.kind === kind).length;
  const jobs = (was: string, isNow: string) =>
    history.filter((row) => row.kind === 'job' && row.was === was && row.is_now === isNow).length;
  const lines = [
    `${server}, ${forMs / 1_000} s, ${workers} workers and a reaper, seed ${seed}`,
    '',
    'faults survived',
    ...[...faults].map(([kind, { times, atHolder }]) =>
      counted(times, FAULTS[kind], atHolder === 0 || kind === 'release' ? '' : `, ${atHolder} of them holding a lease`),
    ),
    'meanwhile',
    counted(times('granted'), 'leases granted'),
    counted(times('renewed'), 'renewals'),
    counted(times('stage'), 'stages written'),
    counted(
      effects.length,
      'effects',
      `, ${effects.length - byEffect(effects).size} repeated after an unknown outcome`,
    ),
    counted(jobs('queued', 'running'), 'jobs claimed'),
    counted(jobs('running', 'queued'), 'jobs returned to the queue'),
    counted(jobs('running', 'done'), 'jobs done'),
    'told by the workers that lived to tell it',
    ...[...told].sort(([a], [b]) => (a < b ? -1 : 1)).map(([event, count]) => counted(count, event)),
    'rules',
    ...findings.flatMap(({ title, breaches }) => [
      `  ${breaches.length === 0 ? '     kept' : `BROKEN ${breaches.length}`.padStart(9)}  ${title}`,
      ...breaches.slice(0, MAX_SHOWN).map((breach) => `             ${breach}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const counted = (count: number, what: string, more = '') => `  ${String(count).padStart(9)}  ${what}${more}`;
