import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownName } from '../contract/store.js';
import { makeDatabases, mysql, mysqlAddress } from '../contract/stores/mysql.js';
import { makeSchemas, postgres, postgresAddress } from '../contract/stores/postgres.js';
import { compile, layOut, markdownSnippets } from './snippets.js';

const folder = 'examples/guides';
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));
const place = ownName('guides');
const ending: (() => Promise<void>)[] = [];

beforeAll(async () => {
  if (postgres.missing === undefined) {
    ending.push(await makeSchemas(place));
    const { connectionString = '', options = '' } = postgresAddress(place);
    process.env['POSTGRES_URL'] = `${connectionString}?options=${encodeURIComponent(options)}`;
  }
  if (mysql.missing === undefined) {
    ending.push(await makeDatabases(place));
    const { host, port, user, password } = mysqlAddress(place);
    process.env['MYSQL_URL'] = `mysql://${user}:${password}@${host}:${port}/${place}`;
  }
});
afterAll(async () => {
  for (const end of ending) await end();
});

/** Why a snippet cannot run here, if it cannot. */
function missing(code: string): string | undefined {
  if (code.includes("['POSTGRES_URL']")) return postgres.missing;
  return code.includes("['MYSQL_URL']") ? mysql.missing : undefined;
}

const laid = pages.flatMap((page) => layOut(`guide-${page}`, markdownSnippets(join(folder, page))));

test('the snippets of the guides compile as they stand', { timeout: 60_000 }, () => {
  const where = new Map(laid.map(({ file, snippet }) => [file.slice(file.indexOf('.snippets')), snippet.at]));
  const said = compile(laid.map(({ file }) => file));
  expect(
    said.map((line) => line.replace(/^\S*?(\.snippets\S+?\.ts)/, (_, file: string) => where.get(file) ?? file)),
  ).toEqual([]);
});

describe('the snippets of the guides', () => {
  for (const { snippet, file } of laid) {
    test.skipIf(missing(snippet.code) !== undefined)(`${snippet.at} runs`, { timeout: 60_000 }, async () => {
      await expect(import(/* @vite-ignore */ file)).resolves.toBeDefined();
    });
  }

  test('never unwrap a result unsafely: a reader copies them', () => {
    expect(laid.filter(({ snippet }) => snippet.code.includes('_unsafe')).map(({ snippet }) => snippet.at)).toEqual([]);
  });
});

test.each(pages)('%s links to pages that are there, and begins with its title', (page) => {
  const text = readFileSync(join(folder, page), 'utf8');
  const title = /^---\ntitle: (.+)\n---\n\n# (.+)\n/.exec(text);
  expect(title?.[1]).toBeDefined();
  expect(title?.[2]).toBe(title?.[1]);
  for (const [, link = ''] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g))
    expect(existsSync(join(folder, link)), link).toBe(true);
});
