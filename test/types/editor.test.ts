import { describe, expect, test } from 'vitest';
import { CURSOR, Editor } from './editor.js';

const HEAD = `
import type { Generated, Kysely } from 'kysely';
import * as library from 'transition-ownership';

interface Database {
  tasks: { id: Generated<number>; stage: 'deploy-staging' | 'deploy' | 'done'; note: string | null; updated_at: string };
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
    editor.completions(`${HEAD}library.createTransitionOwnership({ db, tasks: { ${tasks} } });`);

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
    editor.errors(`${HEAD}library.createTransitionOwnership({ db, tasks: { ${tasks} }${more} });`);

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
