import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createTransitionOwnership, ensureSchema, postgresDialect } from 'transition-ownership';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { proveFence } from '../../src/cli/verify/fence.js';
import { type Handle, openSite, type Scratch, scratchFor } from '../../src/cli/verify/scratch.js';
import { judgeTables, makeTables } from '../../src/cli/verify/torture-tables.js';
import { mysql } from '../contract/stores/mysql.js';
import { postgres } from '../contract/stores/postgres.js';
import { temporaryFolder } from '../contract/stores/sqlite.js';
import { asked, begin, tool } from './tool.js';

interface Document {
  readonly engine: string;
  readonly proofs: readonly { readonly name: string; readonly result: string; readonly detail: string }[];
}

const RULES = Array.from({ length: 10 }, (_, at) => expect.stringMatching(`^R${at + 1}-`) as string);
const FENCE = ['updateStageCas', 'updateStageCas with release', 'ownedBy'].map((way) => `fence: ${way}`);
const TORTURE = ['real processes, killed and stopped', 'every task is free again'];

const brokenOf = ({ proofs }: Document) => proofs.filter(({ result }) => result === 'broken');

describe('verify', { timeout: 120_000 }, () => {
  test('proves an SQLite file beside the one that is named, and leaves nothing there', async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const { document } = await asked('verify', '--sqlite', join(folder.path, 'mine.sqlite'), '--seconds', '10');
    const found = document as Document;
    expect(found.engine).toMatch(/^SQLite 3\./);
    expect(found.proofs.map(({ name }) => name)).toEqual([...RULES, ...TORTURE]);
    expect(brokenOf(found)).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test.skipIf(postgres.missing !== undefined)('proves PostgreSQL in a schema that it drops', async () => {
    const url = process.env['TEST_POSTGRES_URL'] ?? '';
    const { document } = await asked('verify', '--postgres', url, '--seconds', '10');
    const found = document as Document;
    expect(found.engine).toMatch(/^PostgreSQL \d/);
    expect(found.proofs.map(({ name }) => name)).toEqual([...FENCE, ...RULES, ...TORTURE]);
    expect(brokenOf(found)).toEqual([]);
    expect(found.proofs.slice(0, 3).map(({ result }) => result)).toEqual(['held', 'held', 'held']);
  });

  test.skipIf(mysql.missing !== undefined)('proves MariaDB in a database that it drops', async () => {
    const url = process.env['TEST_MYSQL_URL'] ?? '';
    const { document } = await asked('verify', '--mysql', url, '--seconds', '10');
    const found = document as Document;
    expect(found.proofs.map(({ name }) => name)).toEqual([...FENCE, ...RULES, ...TORTURE]);
    expect(brokenOf(found)).toEqual([]);
  });

  test('ends with 2 where the engine cannot be reached', async () => {
    const { code, stderr } = await tool(
      'verify',
      '--postgres',
      'postgres://nobody@127.0.0.1:1/none',
      '--seconds',
      '10',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('ECONNREFUSED');
  });

  test('leaves nothing there when it is interrupted', async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const working = begin(['verify', '--sqlite', join(folder.path, 'mine.sqlite'), '--seconds', '30']);
    while (readdirSync(folder.path).length === 0) await new Promise(setImmediate);
    working.interrupt();
    expect((await working.ended).code).toBe(2);
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe.skipIf(postgres.missing !== undefined)('what verify would find', () => {
  let scratch: Scratch;
  let db: Handle;
  beforeAll(async () => {
    scratch = scratchFor({ kind: 'postgres', place: process.env['TEST_POSTGRES_URL'] ?? '' });
    await scratch.make();
    db = await openSite(scratch.site, 2);
    await makeTables(db);
    const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
    (await ensureSchema(ownership))._unsafeUnwrap();
  });
  afterAll(async () => {
    await db.destroy();
    await scratch.remove();
  });

  test('a fence without the lock that holds a take-over back', async () => {
    const proofs = await proveFence(scratch, { ...postgresDialect, shareLock: sql`` });
    expect(proofs.map(({ result }) => result)).toEqual(['broken', 'broken', 'broken']);
  });

  test.each([
    [
      'a token that is granted twice',
      'insert into grants values (1, 7), (2, 7)',
      '1 fencing tokens were granted twice',
    ],
    ['a move that happens twice', 'insert into moves values (1, 1, 7), (1, 1, 8)', 'task 1 was moved to 1 twice'],
    [
      'a stale owner that still writes',
      'insert into moves values (1, 1, 8), (1, 2, 7)',
      'token 7 moved task 1 after token 8',
    ],
    [
      'a move that is lost',
      'insert into moves values (1, 3, 7)',
      'task 1 is at 2 and was moved to 3: a commit was lost',
    ],
  ])('%s', async (_, planted, wrong) => {
    await sql`truncate grants, moves, tasks`.execute(db);
    await sql`insert into tasks values (1, '2')`.execute(db);
    await sql.raw(planted).execute(db);
    expect((await judgeTables(db)).wrong).toEqual([wrong]);
  });

  test('and nothing where all is well', async () => {
    await sql`truncate grants, moves, tasks`.execute(db);
    await sql`insert into tasks values (1, '2')`.execute(db);
    await sql`insert into grants values (1, 7), (1, 8)`.execute(db);
    await sql`insert into moves values (1, 1, 7), (1, 2, 8)`.execute(db);
    expect(await judgeTables(db)).toEqual({ grants: 2, moves: 2, wrong: [] });
  });
});
