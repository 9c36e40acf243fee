import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import { Consumer } from './consumer.js';
import { entryPoints, manifest } from './entry-points.js';

const needed = ['kysely', 'neverthrow'];
const optional = Object.keys(manifest.peerDependenciesMeta);
const consumer = new Consumer([...needed, ...optional, '@types']);
const frugal = new Consumer(needed);

afterAll(() => {
  consumer.remove();
  frugal.remove();
});

const esm = (specifier: string) => `import * as all from '${specifier}'; console.log(Object.keys(all).sort().join());`;
const cjs = (specifier: string) => `console.log(Object.keys(require('${specifier}')).sort().join());`;

test.each(entryPoints)('$specifier gives the same names to import and to require', ({ specifier }) => {
  const names = consumer.run('run.mjs', esm(specifier));
  expect(names.trim()).not.toBe('');
  expect(consumer.run('run.cjs', cjs(specifier))).toBe(names);
});

test.each([
  ['an ES module', 'types.mts', { module: ts.ModuleKind.NodeNext }],
  ['a CommonJS module', 'types.cts', { module: ts.ModuleKind.NodeNext }],
  ['a bundled module', 'types.ts', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
])('every entry point has types for %s', (_, name, options) => {
  const named = entryPoints.map(({ specifier, name }) => ({ specifier, name: name.replaceAll('-', '_') }));
  const lines = named.flatMap(({ specifier, name }) => [
    `import * as ${name} from '${specifier}';`,
    '// @ts-expect-error an entry point without types would let this pass',
    `export const keys_${name}: (keyof typeof ${name})[] = ['certainlyNotThere'];`,
  ]);
  expect(consumer.complaints(name, lines.join('\n'), options)).toEqual([]);
});

test.each(['transition-ownership', 'transition-ownership/migrations'])('%s needs no optional peer', (specifier) => {
  expect(frugal.run('run.mjs', esm(specifier))).toBe(consumer.run('run.mjs', esm(specifier)));
  expect(frugal.run('run.cjs', cjs(specifier))).toBe(consumer.run('run.cjs', cjs(specifier)));
});

describe('npx transition-ownership', () => {
  const make = `
    import { Kysely } from 'kysely';
    import { acquireLease, createTransitionOwnership, ensureSchema } from 'transition-ownership';
    import { openSqlite } from 'transition-ownership/sqlite';
    const db = new Kysely({ dialect: openSqlite('orchestrator.sqlite') });
    await db.schema.createTable('tasks').addColumn('id', 'integer', (id) => id.primaryKey()).addColumn('stage', 'text').execute();
    await db.insertInto('tasks').values({ id: 1, stage: 'deploy' }).execute();
    const ownership = createTransitionOwnership({ db, tasks: { table: 'tasks', id: 'id', stage: 'stage' } });
    await ensureSchema(ownership);
    await acquireLease(ownership, { taskId: 1, actor: 'finalizer', stage: 'deploy' });
    await db.destroy();
  `;

  test('finds the driver of the project, and shows who holds what', () => {
    consumer.run('make.mjs', make);
    const { status, stdout, stderr } = consumer.npx(
      'transition-ownership',
      'status',
      '--sqlite',
      'orchestrator.sqlite',
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^task {2}token .*\n1 +1 +finalizer +deploy .* dead +process-gone\n/);
    expect(status).toBe(1);
  });

  test('is the whole tool without any driver, and names the one that it needs', () => {
    expect(frugal.npx('transition-ownership', '--help').stdout).toContain('npx transition-ownership <command>');
    const { status, stderr } = frugal.npx('transition-ownership', 'status', '--sqlite', 'package.json');
    expect(stderr).toContain('There is no file package.json.');
    expect(status).toBe(2);
    frugal.write('file.sqlite', '');
    expect(frugal.npx('transition-ownership', 'status', '--sqlite', 'file.sqlite').stderr).toBe(
      'transition-ownership: --sqlite needs the package better-sqlite3: npm install better-sqlite3.\n',
    );
  });
});

describe('the packed files', () => {
  const home = join(consumer.folder, 'node_modules', 'transition-ownership');

  test('are what users need and nothing else', () => {
    const strangers = consumer.packed.filter(
      (path) => !/^(?:dist\/|(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$)/.test(path),
    );
    expect(strangers).toEqual([]);
    expect(consumer.packed).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'LICENSE']));
  });

  // The bundler writes the name of each source above what it took from it.
  test.each(['.js', '.cjs'])('hold each source once (%s), so that entry points share their state', (end) => {
    const code = consumer.packed
      .filter((path) => path.endsWith(end))
      .map((path) => readFileSync(join(home, path), 'utf8'))
      // The tool is a program of its own.
      .filter((text) => !text.includes('// src/cli/'));
    const sources = code.flatMap((text) => text.match(/^\/\/ src\/\S+$/gm) ?? []);
    expect(sources).toContain('// src/ownership.ts');
    expect(sources.filter((source, index) => sources.indexOf(source) !== index)).toEqual([]);
  });

  test('hold no text that a reader of the declarations or of the code has no use for', () => {
    expect(consumer.packed.filter((path) => /\.map$|^src\//.test(path))).toEqual([]);
  });
});
