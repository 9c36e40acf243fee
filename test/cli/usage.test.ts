import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { acquireLease, createTransitionOwnership, ensureSchema } from 'transition-ownership';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { kinds, mapping, type Place } from './places.js';
import { asked, begin, tool } from './tool.js';

const file = join(tmpdir(), 'there-is-no-such-file.sqlite');

describe('a command line', () => {
  test.each([
    [[], 'Name one of the commands status, doctor, release, sanitize, recover, watch, ui, verify.'],
    [
      ['states', '--sqlite', file],
      'Name one of the commands status, doctor, release, sanitize, recover, watch, ui, verify.',
    ],
    [['status', 'doctor', '--sqlite', file], 'One command at a time, and each database by its option.'],
    [['status'], 'Name one database: --sqlite FILE, --postgres URL or --mysql URL.'],
    [
      ['status', '--sqlite', file, '--mysql', 'mysql://host/x'],
      'Name one database: --sqlite FILE, --postgres URL or --mysql URL.',
    ],
    [['status', '--sqlite', file, '--force'], "Unknown option '--force'."],
    [['status', '--sqlite', file, '--dry-run'], 'status has no option --dry-run.'],
    [['recover', '--sqlite', file, '--all'], "Unknown option '--all'."],
    [
      ['release', '--sqlite', file, '--task', '-5'],
      "Option '--task' argument is ambiguous. Did you forget to specify the option argument for '--task'? To specify an option argument starting with a dash use '--task=-XYZ'.",
    ],
    [['verify', '--sqlite', file, '--seconds', '1'], '--seconds takes a number from 10 to 86400.'],
    [['verify', '--sqlite', file, '--config', file], 'verify has no option --config.'],
    [['watch', '--sqlite', file, '--every', '0'], '--every takes seconds, from 0.1 to 86400.'],
    [['ui', '--sqlite', file, '--port', '70000'], '--port takes a number up to 65535.'],
    [['status', '--sqlite', file, '--port', '1'], 'status has no option --port.'],
    [
      ['release', '--sqlite', file, '--task', '1', '--token', '2'],
      'release needs --task and --token, as status shows them, and a --reason.',
    ],
    [
      ['release', '--sqlite', file, '--task', '1', '--token', 'x', '--reason', 'y'],
      '--token takes the number that status shows.',
    ],
  ])('%j is refused: %s', async (args, message) => {
    expect(await tool(...args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `transition-ownership: ${message}\nSee: npx transition-ownership --help\n`,
    });
  });

  test('with --help is answered with the commands and what the tool ends with', async () => {
    const { code, stdout } = await tool('status', '--help');
    expect(stdout).toMatch(/status.*watch.*doctor.*release.*sanitize.*recover.*It ends with\n +0 .*\n +1 .*2 /s);
    expect(code).toBe(0);
  });
});

describe('a password', () => {
  test.each([
    ['whose URL is none', '--postgres', 'postgre://ada:hidden@127.0.0.1/x'],
    ['that breaks its URL', '--postgres', 'postgres://ada:hid/den@127.0.0.1:1/x'],
    ['that breaks its URL', '--mysql', 'mysql://ada:hid#den@127.0.0.1:1/x'],
    ['of a server that is not there', '--postgres', 'postgres://ada:hid%40den@127.0.0.1:1/x'],
    ['of a server that is not there', '--mysql', 'mysql://ada:hid%40den@127.0.0.1:1/x'],
    ['that is the name of the host too', '--mysql', 'mysql://ada:hidden.invalid@hidden.invalid/x'],
    [
      'that is a parameter and the name of the host',
      '--postgres',
      'postgres://hidden.invalid/x?password=hidden.invalid',
    ],
  ])('%s is not told (%s)', async (_, option, url) => {
    const { code, stdout, stderr } = await tool('status', option, url);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^transition-ownership: ./);
    expect(stderr).not.toMatch(/hid/);
  });

  test('of a URL without its option is not told', async () => {
    const { code, stderr } = await tool('status', 'postgres://ada:hidden@127.0.0.1/x', '--sqlite', file);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/hid/);
  });
});

test('a tool whose output nobody takes does not end as if all were well', async () => {
  await using place = await kinds.sqlite.open();
  const own = createTransitionOwnership({ db: place.db, tasks: mapping.tasks });
  (await ensureSchema(own))._unsafeUnwrap();
  const watching = begin(['watch', ...place.database, '--every', '0.1']);
  await watching.lines(1);
  watching.leave();
  expect((await watching.ended).code).toBe(2);
});

test('doctor asks a server that is not there once, and shows nothing', async () => {
  const { code, stdout, stderr } = await tool('doctor', '--postgres', 'postgres://127.0.0.1:1/x');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe('transition-ownership: The leases cannot be read: connect ECONNREFUSED 127.0.0.1:1.\n');
});

test.each([
  ['--sqlite', 'package.json', 'better-sqlite3'],
  ['--postgres', 'postgres://127.0.0.1:1/x', 'pg'],
  ['--mysql', 'mysql://127.0.0.1:1/x', 'mysql2'],
])('%s without its driver names the package to install', async (option, place, name) => {
  await using project = await kinds.sqlite.open();
  project.config({});
  const database = option === '--sqlite' ? 'config.json' : place;
  const { code, stderr } = await begin(['status', option, database], project.folder).ended;
  expect(stderr).toBe(`transition-ownership: ${option} needs the package ${name}: npm install ${name}.\n`);
  expect(code).toBe(2);
});

describe('no configuration', () => {
  let place: Place;
  beforeEach(async () => {
    place = await kinds.sqlite.open();
    const own = createTransitionOwnership({ db: place.db, tasks: mapping.tasks });
    (await ensureSchema(own))._unsafeUnwrap();
  });
  afterEach(() => place[Symbol.asyncDispose]());

  const impossible = { id: 4, task_id: 1, status: 'queued', run_id: 7, pid: 99, started_at: null, finished_at: null };

  test('means the jobs that are found under their usual names', async () => {
    await place.db.insertInto('jobs').values(impossible).execute();
    const found = { findings: [{ code: 'impossible-queued' }, { code: 'no-effects' }, {}] };
    expect(await asked('doctor', ...place.database)).toMatchObject({ code: 1, document: found });
    const wouldBe = { dryRun: true, sanitized: { found: 1 }, transitions: [] };
    expect(await asked('recover', ...place.database, '--dry-run')).toMatchObject({ code: 1, document: wouldBe });
    const cleared = { found: 1, sanitized: [{ jobId: 4, taskId: 1, runId: 7, pid: 99 }] };
    expect(await asked('sanitize', ...place.database)).toMatchObject({ code: 0, document: cleared });
    expect(await place.db.selectFrom('jobs').selectAll().execute()).toEqual([
      { ...impossible, run_id: null, pid: null },
    ]);
  });

  test('means no jobs where none are found: doctor and recover go on, sanitize fails and says how to name them', async () => {
    await place.db.schema.dropTable('jobs').execute();
    const found = { findings: [{ code: 'no-jobs' }, { code: 'no-effects' }, {}] };
    expect(await asked('doctor', ...place.database)).toMatchObject({ code: 0, document: found });
    const nothing = { jobs: null, sanitized: null, reclaimed: [] };
    expect(await asked('recover', ...place.database)).toMatchObject({ code: 0, document: nothing });
    expect((await tool('recover', ...place.database)).stdout).toContain('No jobs were looked at: --config says where');
    const { code, stderr } = await tool('sanitize', ...place.database);
    expect(stderr).toMatch(
      /^transition-ownership: The queued jobs cannot be read: no such table: jobs\..* --config\.\n$/,
    );
    expect(code).toBe(2);
  });
});

describe('a configuration', () => {
  let place: Place;
  beforeEach(async () => {
    place = await kinds.sqlite.open();
  });
  afterEach(() => place[Symbol.asyncDispose]());

  test.each([
    [[], 'must hold a JSON object.'],
    [{ taks: {} }, 'the file has no option "taks"; did you mean "tasks"?'],
    [{ lease: { tabel: 'leases' } }, 'lease has no option "tabel"; did you mean "table"?'],
    [
      { liveness: 'single-process' },
      'liveness must be "process-and-heartbeat" or "heartbeat-only", got "single-process".',
    ],
    [{ lease: { ttlMs: 100 } }, 'ttlMs must be a whole number of milliseconds from 150 to 31536000000, got 100.'],
    [{ tasks: { table: 'tasks', id: 'id' } }, 'tasks.stage must be a string, got undefined.'],
    [{ jobs: { ...mapping.jobs, stage: 'stage' } }, 'jobs has no option "stage".'],
    [{ jobs: null }, 'jobs must be an object, got null.'],
    [{ lease: null }, 'lease must be an object, got null.'],
    [{ effects: 7 }, 'effects must be an object, got 7.'],
    [{ lease: { table: 'tasks' } }, 'lease.table must not be tasks.table, got "tasks" and "tasks".'],
  ])('%j is refused', async (config, message) => {
    const [option, path] = place.config(config);
    const { code, stdout, stderr } = await tool('status', ...place.database, option, path);
    expect(stderr).toContain(`transition-ownership: ${path}`);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, '']);
  });

  test('that is not there, or is no JSON, is told', async () => {
    const missing = await tool('status', ...place.database, '--config', 'nowhere.json');
    expect(missing.stderr).toMatch(/^transition-ownership: nowhere\.json cannot be read: ENOENT/);
    const none = await tool('status', ...place.database, '--config', 'README.md');
    expect(none.stderr).toMatch(/^transition-ownership: README\.md cannot be read: /);
    expect([missing.code, none.code]).toEqual([2, 2]);
  });

  test('without jobs leaves sanitize nothing to do, and recover the leases', async () => {
    const config = place.config({});
    const own = createTransitionOwnership({ db: place.db, tasks: mapping.tasks });
    (await ensureSchema(own))._unsafeUnwrap();
    const { code, stderr } = await tool('sanitize', ...place.database, ...config);
    expect([code, stderr]).toEqual([2, `transition-ownership: ${config[1]} has no jobs.\n`]);
    const recovered = await asked('recover', ...place.database, ...config);
    expect(recovered).toMatchObject({ code: 0, document: { jobs: null, sanitized: null, reclaimed: [] } });
  });

  test('that does not fit the tables is explained by doctor, which ends with 1', async () => {
    const config = place.config({ lease: { taskIdType: 'text' } });
    const own = createTransitionOwnership({ db: place.db, tasks: mapping.tasks });
    (await ensureSchema(own))._unsafeUnwrap();
    const { code, document } = await asked('doctor', ...place.database, ...config);
    expect(document).toMatchObject({
      findings: [{ code: 'id-affinity', severity: 'error' }, { severity: 'advice' }, {}],
    });
    expect(code).toBe(1);
  });

  test('names text ids, and what steers a terminal is spelled out', async () => {
    await sql`create table notes (id text primary key, stage text)`.execute(place.db);
    const lease = { table: 'note_lease', taskIdType: 'text' } as const;
    const tasks = { table: 'notes', id: 'id', stage: 'stage' } as const;
    const db = place.db.withTables<{ notes: { id: string; stage: string } }>();
    const own = createTransitionOwnership({ db, tasks, lease });
    (await ensureSchema(own))._unsafeUnwrap();
    const taskId = 'a\u001b[2J\u202eb';
    await sql`insert into notes (id) values (${taskId})`.execute(place.db);
    const acquired = (await acquireLease(own, { taskId, actor: 'monitor' }))._unsafeUnwrap();
    const config = place.config({ tasks, lease });
    const { code, stdout } = await tool('status', ...place.database, ...config);
    expect(code).toBe(0);
    expect(stdout).toContain('\na\\u{1b}[2J\\u{202e}b  ');
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
    expect((await asked('status', ...place.database, ...config)).document).toMatchObject({ leases: [{ taskId }] });
    const token = String(acquired.fencingToken);
    const order = [
      'release',
      ...place.database,
      ...config,
      '--task',
      taskId,
      '--token',
      token,
      '--reason',
      'r\u001b[31m',
    ];
    const released = await tool(...order);
    expect(released.stdout).not.toMatch(/[\u001b\u202e]/);
    expect(released.code).toBe(0);
    void (await own.close());
  });

  test('names text ids of jobs, spelled out where they are left for the next time', async () => {
    const jobId = 'a\u001b[2J\u202eb';
    const row = { task_id: 1, status: 'queued', run_id: 7, pid: 99, started_at: null, finished_at: null };
    await place.db
      .insertInto('jobs')
      .values({ ...row, id: jobId as unknown as number })
      .execute();
    await sql`create trigger locked before update on jobs begin select raise(abort, 'locked'); end`.execute(place.db);
    const own = createTransitionOwnership({ db: place.db, tasks: mapping.tasks, effects: {} });
    (await ensureSchema(own))._unsafeUnwrap();
    const config = place.config({ ...mapping, jobs: { ...mapping.jobs, idType: 'text' } });
    for (const order of ['sanitize', 'recover']) {
      const { code, stdout } = await tool(order, ...place.database, ...config);
      expect(stdout).toContain('eft for the next time, for they changed or are locked: a\\u{1b}[2J\\u{202e}b.');
      expect(stdout).not.toMatch(/[\u001b\u202e]/);
      expect(code).toBe(1);
    }
  });

  test('names big ids, which JSON has as text', async () => {
    const lease = { table: 'big_lease', taskIdType: 'bigint' } as const;
    await sql`create table big (id integer primary key, stage text)`.execute(place.db);
    await sql`insert into big (id) values (9007199254740993)`.execute(place.db);
    const db = place.db.withTables<{ big: { id: bigint; stage: string } }>();
    const tasks = { table: 'big', id: 'id', stage: 'stage' } as const;
    const own = createTransitionOwnership({ db, tasks, lease });
    (await ensureSchema(own))._unsafeUnwrap();
    const acquired = (await acquireLease(own, { taskId: 9_007_199_254_740_993n, actor: 'monitor' }))._unsafeUnwrap();
    const config = place.config({ lease });
    const order = [
      'release',
      ...place.database,
      ...config,
      '--token',
      String(acquired.fencingToken),
      '--reason',
      'why',
    ];
    expect((await tool(...order, '--task', 'seven')).stderr).toContain('--task takes a whole number');
    expect(await asked(...order, '--task', '9007199254740993')).toMatchObject({
      code: 0,
      document: { taskId: '9007199254740993', outcome: 'released' },
    });
    void (await own.close());
  });
});
