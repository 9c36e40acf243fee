import { parseArgs } from 'node:util';
import { table } from './report.js';
import { NotInstalled } from './server/server.js';
import { torture } from './torture.js';

// npm run torture -- --dialect sqlite|postgres|mysql [--minutes 1 | --seconds 60] [--seed 1] [--workers 4] [--break fence]
// Exits with 1 if a rule was broken, with 2 if the server is not installed.

const { values } = parseArgs({
  options: {
    dialect: { type: 'string', default: 'sqlite' },
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '4' },
    break: { type: 'string' },
  },
});

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new RangeError(`--${name} must be one of ${allowed.join(', ')}, got ${value}`);
  return found;
}

function above0(name: string, value: string): number {
  const number = Number(value);
  if (!(number > 0 && number < Number.POSITIVE_INFINITY))
    throw new RangeError(`--${name} must be above 0, got ${value}`);
  return number;
}

function whole(name: string, value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new RangeError(`--${name} must be a whole number above 0, got ${value}`);
  return number;
}

const { minutes = '1', seconds, seed, workers } = values;
const options = {
  dialect: oneOf('dialect', values.dialect, ['sqlite', 'postgres', 'mysql']),
  forMs: seconds === undefined ? above0('minutes', minutes) * 60_000 : above0('seconds', seconds) * 1_000,
  seed: seed === undefined ? Math.floor(Math.random() * 2 ** 31) + 1 : whole('seed', seed),
  workers: whole('workers', workers),
  breaks: values.break === undefined ? undefined : oneOf('break', values.break, ['fence']),
};

try {
  const report = await torture(options);
  process.stdout.write(table(options, report));
  if (report.findings.some(({ breaches }) => breaches.length > 0)) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof NotInstalled)) throw error;
  process.stderr.write(`No torture of ${options.dialect}: ${error.message}.\n`);
  process.exitCode = 2;
}
