import { describe, expect, test } from 'vitest';
import { CURSOR, Editor } from './editor.js';

const HEAD = `
import type { Generated, Kysely } from 'kysely';
import { acquireLease, acquireLeases, claimNextJob, createJobReaper, createTransitionOwnership, finishJob, inspectLease, recoverOnStartup, releaseLease, requeueRunningJobs, resetRunOwnership, runEffect, sanitizeImpossibleQueued, snapshot, updateStageCas, withTransitionLease } from 'transition-ownership';

type Stage = 'deploy-staging' | 'deploy' | 'done';
interface Database {
  tasks: { id: Generated<number>; stage: Stage; note: string | null; updated_at: string };
  builds: { build_id: number; phase: 'built' | 'shipped' | null; seen_at: Date; kind: number; code: string };
  papers: { paper_id: string; stage: string };
  jobs: { id: number; task_id: number; status: 'queued' | 'running' | 'failed' | 'done'; run_id: number | null;
    pid: number | null; started_at: Date | null };
}

declare const db: Kysely<Database>;
`;

const editor = new Editor();

describe('an editor offers for tasks the columns of its table, and of no other', () => {
  const offered = (tasks: string) =>
    editor.completions(`${HEAD}createTransitionOwnership({ db, tasks: { ${tasks} } });`);

  test.each([
    ['the tables', `table: '${CURSOR}'`, ['builds', 'jobs', 'papers', 'tasks']],
    ['ids', `table: 'builds', id: '${CURSOR}', stage: 'phase'`, ['build_id', 'code', 'kind']],
    ['stages', `table: 'builds', id: 'build_id', stage: '${CURSOR}'`, ['code', 'phase']],
    [
      'stamps',
      `table: 'builds', id: 'build_id', stage: 'phase', updatedAt: '${CURSOR}'`,
      ['build_id', 'code', 'kind', 'phase', 'seen_at'],
    ],
    ['ids of another', `table: 'papers', id: '${CURSOR}', stage: 'stage'`, ['paper_id', 'stage']],
    ['ids of a type', `table: 'papers', idType: 'text', id: '${CURSOR}', stage: 'stage'`, ['paper_id', 'stage']],
    [
      'types of ids',
      `table: 'papers', id: 'paper_id', stage: 'stage', idType: '${CURSOR}'`,
      ['bigint', 'integer', 'text'],
    ],
  ])('%s', (_, tasks, names) => {
    expect(offered(tasks)).toEqual(names);
  });
});

describe('the compiler points at what is wrong, and names what would be right', () => {
  const said = (tasks: string, more = '') =>
    editor.errors(`${HEAD}createTransitionOwnership({ db, tasks: { ${tasks} }${more} });`);

  test.each([
    ['a column that is not there', `table: 'builds', id: 'build_id', stage: 'stage'`, '"phase"'],
    ['an id that is not there', `table: 'builds', id: 'id', stage: 'phase'`, '"build_id"'],
    ['a stamp that is not there', `table: 'builds', id: 'build_id', stage: 'phase', updatedAt: 'at'`, '"seen_at"'],
    ['a table that is not there', `table: 'build', id: 'build_id', stage: 'phase'`, '"builds"'],
    ['a text id', `table: 'papers', id: 'paper_id', stage: 'stage'`, "paper_id is text: say tasks.idType 'text'"],
    ['a text id among numbers', `table: 'builds', id: 'code', stage: 'phase'`, "code is text: say tasks.idType 'text'"],
    [
      'a number for text',
      `table: 'builds', id: 'build_id', idType: 'text', stage: 'phase'`,
      "build_id is no text: say tasks.idType 'integer' or 'bigint'",
    ],
  ])('%s', (_, tasks, named) => {
    const errors = said(tasks);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toContain(named);
    expect(errors[0]?.message).not.toContain("type 'never'");
  });

  test('nothing is wrong with what is right', () => {
    for (const [tasks, more] of [
      [`table: 'papers', id: 'paper_id', idType: 'text', stage: 'stage'`, ''],
      [`table: 'papers', id: 'paper_id', stage: 'stage'`, `, lease: { taskIdType: 'text' }`],
      [
        `table: 'builds', id: 'build_id', stage: 'phase', updatedAt: { column: 'seen_at', value: (eb) => eb.val(1) }`,
        '',
      ],
    ] as const)
      expect(said(tasks, more)).toEqual([]);
  });
});

describe('what an editor shows of a verb is short', () => {
  const OWN = `${HEAD}
const ownership = createTransitionOwnership({ db, effects: {},
  tasks: { table: 'tasks', id: 'id', stage: 'stage' },
  jobs: { table: 'jobs', id: 'id', taskId: 'task_id', status: 'status', runId: 'run_id', pid: 'pid',
    startedAt: 'started_at', statuses: { queued: 'queued', running: 'running', failed: 'failed' } } });
declare const lease: Awaited<ReturnType<typeof acquireLease<NonNullable<typeof ownership.shape>>>> extends
  import('neverthrow').Result<infer L, infer _E> ? L : never;
`;
  test.each([
    [`acquireLease(ownership, { taskId: 1, actor: 'monitor' })`],
    [`acquireLeases(ownership, [{ taskId: 1, actor: 'monitor' }])`],
    [`updateStageCas(ownership, { taskId: 1, expected: 'deploy', next: 'done' })`],
    [`withTransitionLease(ownership, { taskId: 1, actor: 'monitor' }, async () => 7)`],
    [`claimNextJob(ownership)`],
    [`finishJob(ownership, { jobId: 1, runId: 7, status: 'done' })`],
    [`resetRunOwnership(ownership, { jobId: 1, expected: 'any' })`],
    [`requeueRunningJobs(ownership, { owners: 'all' })`],
    [`sanitizeImpossibleQueued(ownership)`],
    [`recoverOnStartup(ownership, { jobs: 'all' })`],
    [`runEffect(ownership, lease, { effect: 'merge', key: '1', apply: () => 7 })`],
    [`inspectLease(ownership, 1)`],
    [`snapshot(ownership)`],
    [`releaseLease(ownership, lease)`],
    [`createJobReaper(ownership, { finalizeGraceMs: 1, maxRunningMs: 3_600_000, onDead: 'fail' }).tick()`],
  ])('%s', (call) => {
    for (const text of [`const re${CURSOR}sult = ${call};`, `const re${CURSOR}sult = await ${call};`]) {
      const shown = editor.hover(`${OWN}${text}\nexport {};`);
      expect(shown).toContain('const result: ');
      expect(shown).not.toContain(': any');
      expect(shown.length, shown).toBeLessThan(200);
    }
  });
});
