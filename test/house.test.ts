import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { circlesOf } from './house/circles.js';
import * as rules from './house/rules.js';
import { parseSource, type Source } from './house/source.js';

/** Files of `src/` that may be long, each with its reason. A file that is short again, or gone, fails the test. */
const longFiles = new Map<string, string>([]);

const folders = ['src', 'test', 'examples', 'bench'];

interface HouseRule {
  readonly title: string;
  readonly rule: rules.Rule;
  readonly folders: readonly string[];
  /** Files that break the rule: without them a rule that finds nothing would look obeyed. */
  readonly broken: readonly (readonly [path: string, text: string])[];
  /** Files close to the edge that keep it. */
  readonly kept: readonly (readonly [path: string, text: string])[];
}

const house: HouseRule[] = [
  {
    title: 'a file imports its own folder and the layers below',
    rule: rules.layersPointDown,
    folders: ['src'],
    broken: [
      ['src/core/lease.ts', "import type { Context } from '../context.js';"],
      ['src/lease/acquire.ts', "import { claimNextJob } from '../job/claim-next-job.js';"],
      ['src/stage/update.ts', "export * from '../ownership.js';"],
      ['src/dialect/sqlite.ts', "const later = await import('../system/clock.js');"],
      ['src/system/clock.ts', "type Row = import('../sql/rows.js').Row;"],
      ['src/testing/world.ts', "import { acquireSql } from '../sql/acquire.js';"],
      ['src/testing/store/memory.ts', "import { acquireLease } from '../../lease/acquire.js';"],
      ['src/cli/status.ts', "import { snapshot } from '../lease/snapshot.js';"],
      ['src/cli/database.ts', "import { openPostgres } from '../postgres/index.js';"],
      ['src/index.ts', "export { run } from './cli/run.js';"],
      ['src/lease/acquire.ts', "import { acquireLease } from 'transition-ownership';"],
      ['src/opentelemetry/hold-spans.ts', "import { snapshot } from '../lease/snapshot.js';"],
      ['src/extras/more.ts', ''],
    ],
    kept: [
      [
        'src/lease/acquire.ts',
        "import { judge } from '../lease-row/judge.js'; import { release } from './release.js';",
      ],
      ['src/testing/store/memory.ts', "import { acquireLease } from '../../index.js'; import './file.js';"],
      ['src/testing/kit.ts', "import { acquireLease } from 'transition-ownership';"],
      ['src/cli/status.ts', "import { snapshot } from '../index.js';"],
      ['src/index.ts', "export { updateStageCas } from './stage/update-stage-cas.js';"],
      ['src/opentelemetry/snapshot-gauges.ts', "import { snapshot } from '../index.js';"],
    ],
  },
  {
    title: 'Kysely is met only where statements are made and handles are taken',
    rule: rules.kyselyStaysInItsPlace,
    folders: ['src'],
    broken: [
      ['src/core/lease.ts', "import type { Kysely } from 'kysely';"],
      ['src/lease/acquire.ts', "import { sql } from 'kysely';"],
      ['src/lease-row/read.ts', "type Db = import('kysely').Kysely<object>;"],
      ['src/shape.ts', "import { sql } from 'kysely';"],
      ['src/shape.ts', "import { sql, type Kysely } from 'kysely';"],
      ['src/system/clock.ts', "import { Migrator } from 'kysely/migration';"],
    ],
    kept: [
      ['src/sql/acquire.ts', "import { sql } from 'kysely';"],
      ['src/shape.ts', "import type { Selectable } from 'kysely';"],
      ['src/options.ts', "import type { Kysely } from 'kysely';"],
      ['src/cli/database.ts', "import { Kysely } from 'kysely';"],
    ],
  },
  {
    title: 'built-in modules of Node are met only at the edges',
    rule: rules.nodeStaysAtTheEdges,
    folders: ['src'],
    broken: [
      ['src/core/id.ts', "import { randomUUID } from 'node:crypto';"],
      ['src/lease/acquire.ts', "const fs = process.getBuiltinModule('node:fs');"],
      ['src/opentelemetry/hold-spans.ts', "import { performance } from 'node:perf_hooks';"],
    ],
    kept: [
      ['src/system/process.ts', "import { readFileSync } from 'node:fs';"],
      ['src/cli/mapping.ts', "import { readFileSync } from 'node:fs';"],
    ],
  },
  {
    title: 'drivers are met only at the edges',
    rule: rules.driversStayAtTheEdges,
    folders: ['src'],
    broken: [
      ['src/dialect/sqlite.ts', "import Database from 'better-sqlite3';"],
      ['src/sql/execute.ts', "import type { MysqlError } from 'mysql2/promise';"],
      ['src/context.ts', "const pg = require('pg');"],
    ],
    kept: [
      ['src/sqlite/open.ts', "import Database from 'better-sqlite3';"],
      ['src/cli/database.ts', "import type pg from 'pg';"],
      ['src/sql/page.ts', "import { page } from './pg.js';"],
    ],
  },
  {
    title: 'OpenTelemetry is met only in its own entry point, and only its interface',
    rule: rules.telemetryStaysAtTheEdge,
    folders: ['src'],
    broken: [
      ['src/system/observer.ts', "import { metrics } from '@opentelemetry/api';"],
      ['src/opentelemetry/hold-spans.ts', "import { MeterProvider } from '@opentelemetry/sdk-metrics';"],
    ],
    kept: [['src/opentelemetry/hold-spans.ts', "import { trace } from '@opentelemetry/api';"]],
  },
  {
    title: 'time, timers and chance come through ports',
    rule: rules.timeAndChanceComeThroughPorts,
    folders: ['src'],
    broken: [
      ['src/core/timing.ts', 'const now = Date.now();'],
      ['src/lease/keep.ts', 'const started = performance.now();'],
      ['src/sql/execute.ts', 'setTimeout(retry, 10);'],
      ['src/recovery/reaper.ts', 'globalThis.setInterval(tick, 10);'],
      ['src/core/id.ts', 'const id = crypto.randomUUID();'],
      ['src/core/timing.ts', 'const jitter = Math.random();'],
      ['src/stage/update.ts', 'const now = new Date();'],
    ],
    kept: [
      ['src/system/clock.ts', 'export const now = () => Date.now();'],
      ['src/cli/watch.ts', "import { setTimeout } from 'node:timers/promises';"],
      ['src/core/timing.ts', '/** Never `Date.now()`. */ export const of = (ms: number) => new Date(ms);'],
    ],
  },
  {
    title: 'verbs neither execute nor catch: sql/execute.ts does',
    rule: rules.verbsLeaveExecutionToSql,
    folders: ['src'],
    broken: [
      ['src/lease/acquire.ts', 'try { f(); } catch { g(); }'],
      ['src/stage/update.ts', 'const rows = await query.execute(db);'],
      ['src/job/claim.ts', 'const rows = await db.executeQuery(query);'],
      ['src/lease-row/read.ts', 'const row = await query.executeTakeFirst();'],
      ['src/effect/run.ts', 'const result = ResultAsync.fromPromise(apply(), fail);'],
    ],
    kept: [
      ['src/sql/execute.ts', 'try { await db.executeQuery(query); } catch { g(); }'],
      ['src/lease/acquire.ts', 'const rows = execute(context, acquireSql);'],
    ],
  },
  {
    title: 'verbs answer by sql/answered.ts, which never rejects',
    rule: rules.verbsNeverReject,
    folders: ['src'],
    broken: [['src/lease/acquire.ts', 'return new ResultAsync(acquire(context));']],
    kept: [
      ['src/lease/acquire.ts', 'return answered(context.session, acquire(context));'],
      ['src/sql/answered.ts', 'return new ResultAsync(work.catch(broken));'],
    ],
  },
  {
    title: "a lease's state is assigned in holding/ alone",
    rule: rules.leaseStateIsAssignedInHolding,
    folders: ['src'],
    broken: [
      ['src/lease/release-lease.ts', "holding.state = 'released';"],
      ['src/lease-row/released.ts', 'holding.maybeReleased ||= true;'],
      ['src/stage/write-fenced.ts', "secret.holding.entry.phase = 'held';"],
      ['src/lease/grant.ts', 'delete pending.life.entry.provisional;'],
      ['src/effect/run-effect.ts', "life.step('deleted');"],
      ['src/context.ts', "entry.phase = 'held';"],
    ],
    kept: [
      ['src/holding/lease-life.ts', "this.entry.phase = 'held';"],
      ['src/lease/grant.ts', "const released = holding.state === 'released';"],
      ['src/testing/world/state.ts', "world.state = 'over';"],
    ],
  },
  {
    title: 'no dialect is asked for its name',
    rule: rules.dialectsAreNotAskedTheirName,
    folders: ['src'],
    broken: [
      ['src/sql/acquire.ts', "if (dialect.name === 'mysql') f();"],
      ['src/lease/acquire.ts', "const odd = context.dialect.name !== 'sqlite';"],
      ['src/sql/acquire.ts', "switch (sqlDialect.name) { case 'mysql': f(); }"],
    ],
    kept: [
      ['src/dialect/infer.ts', "const odd = dialect.name === 'mysql';"],
      ['src/ownership.ts', 'const told = `made for ${dialect.name}`;'],
    ],
  },
  {
    title: 'snake_case stays with the statements',
    rule: rules.snakeCaseStaysInSql,
    folders: ['src'],
    broken: [
      ['src/lease/acquire.ts', 'const token = row.fencing_token;'],
      ['src/core/lease.ts', 'interface Row { task_id: number }'],
    ],
    kept: [
      ['src/sql/rows.ts', 'const token = row.fencing_token;'],
      ['src/core/limits.ts', "const SMALL = 1_000; const column = 'task_id'; const MAX_MS = result._unsafeUnwrap();"],
    ],
  },
  {
    title: 'a file is named for what it holds',
    rule: rules.filesAreNamedForWhatTheyHold,
    folders,
    broken: [
      ['src/lease/utils.ts', ''],
      ['src/common/rows.ts', ''],
      ['test/helpers.test.ts', ''],
    ],
    kept: [['test/types/lease.test-d.ts', '']],
  },
  {
    title: 'no file of src/ is longer than 200 lines',
    rule: rules.filesAreShort(longFiles),
    folders: ['src'],
    broken: [['src/lease/acquire.ts', 'a;\n'.repeat(201)]],
    kept: [['src/lease/acquire.ts', 'a;\n'.repeat(200)]],
  },
  {
    title: 'nothing is left to do, skipped or focused',
    rule: rules.nothingIsLeftToDo,
    folders,
    broken: [
      ['src/lease/acquire.ts', ['// TO', 'DO: renew'].join('')],
      ['src/lease/acquire.ts', ['// FIX', 'ME'].join('')],
      ['test/lease.test.ts', ['test.on', "ly('a', f)"].join('')],
      ['test/lease.test.ts', ['describe.sk', "ip('a', f)"].join('')],
    ],
    kept: [['test/lease.test.ts', "describe.skipIf(url === undefined)('a', f)"]],
  },
];

const files: Source[] = folders
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.includes('/node_modules/'))
  .map((path) => parseSource(path, readFileSync(path, 'utf8')));

test('the house has been read', () => {
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['src/index.ts', 'test/house.test.ts']));
});

test('the README of the tests names every folder of them', () => {
  const readme = readFileSync('test/README.md', 'utf8');
  const named = readdirSync('test', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(named.map(({ name }) => name).filter((name) => !new RegExp(`\`${name}/?\``).test(readme))).toEqual([]);
});

test('every exception to the length of files is a file', () => {
  expect([...longFiles.keys()].filter((path) => !files.some((file) => file.path === path))).toEqual([]);
});

for (const { title, rule, folders: ruled, broken, kept } of house) {
  describe(title, () => {
    test('is kept', () => {
      const breaches = files
        .filter(({ path }) => ruled.some((folder) => path.startsWith(`${folder}/`)))
        .flatMap((file) => rule(file).map((breach) => `${file.path}: ${breach}`));
      expect(breaches).toEqual([]);
    });

    test.each(broken)('finds what is wrong with %s: %s', (path, text) => {
      expect(rule(parseSource(path, text))).not.toEqual([]);
    });

    test.each(kept)('finds nothing wrong with %s: %s', (path, text) => {
      expect(rule(parseSource(path, text))).toEqual([]);
    });
  });
}

describe('no two files import each other, not even a type', () => {
  type Files = readonly (readonly [path: string, text: string])[];
  const circles = (sources: Files) => circlesOf(sources.map(([path, text]) => parseSource(path, text)));

  test('is kept', () => {
    expect(circlesOf(files.filter(({ path }) => path.startsWith('src/')))).toEqual([]);
  });

  test.each<{ readonly title: string; readonly sources: Files }>([
    {
      title: 'a pair',
      sources: [
        ['src/core/a.ts', "import { b } from './b.js';"],
        ['src/core/b.ts', "import { a } from './a.js';"],
      ],
    },
    {
      title: 'types alone',
      sources: [
        ['src/core/a.ts', "import type { B } from './b.js';"],
        ['src/core/b.ts', "export type { A } from './a.js';"],
      ],
    },
    {
      title: 'a ring over two folders',
      sources: [
        ['src/lease/a.ts', "import { b } from './deep/b.js';"],
        ['src/lease/deep/b.ts', "type C = import('../c.js').C;"],
        ['src/lease/c.ts', "const a = await import('./a.js');"],
      ],
    },
  ])('finds $title', ({ sources }) => {
    expect(circles([...sources, ['src/core/alone.ts', "import './a.js';"]])).toEqual([
      sources
        .map(([path]) => path)
        .sort()
        .join(', '),
    ]);
  });

  test('finds nothing where two ways lead to one file', () => {
    const sources: Files = [
      ['src/core/a.ts', "import './b.js'; import './c.js'; import { sql } from 'kysely';"],
      ['src/core/b.ts', "import './d.js';"],
      ['src/core/c.ts', "import './d.js'; import './b.js';"],
      ['src/core/d.ts', ''],
    ];
    expect(circles(sources)).toEqual([]);
  });
});

test('an exception to the length of files ends when the file is short', () => {
  const rule = rules.filesAreShort(new Map([['src/a.ts', 'one table']]));
  expect(rule(parseSource('src/a.ts', 'a;\n'.repeat(201)))).toEqual([]);
  expect(rule(parseSource('src/a.ts', 'a;\n'))).not.toEqual([]);
});
