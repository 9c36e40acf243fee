import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);

const folder = 'examples';
const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));
const examples = names.map((name) => ({ name, text: readFileSync(`${folder}/${name}`, 'utf8') }));

/** The lines that an example says it prints. */
function promised(text: string): string {
  const [, output = ''] = text.split('\n// Output:\n');
  return output.replaceAll(/^\/\/ ?/gm, '');
}

test('the examples are numbered from 01 without a gap', () => {
  expect(names.length).toBeGreaterThan(9);
  expect(names.map((name) => Number(name.slice(0, 2)))).toEqual(names.map((_, index) => index + 1));
});

describe.each(examples)('$name', ({ name, text }) => {
  test('has at most 110 lines', () => {
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(110);
  });

  test('can be copied: it imports packages by their names and nothing of this repository', () => {
    const imported = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from);
    expect(imported).toContain('transition-ownership');
    expect(imported.filter((from) => from?.startsWith('.'))).toEqual([]);
  });

  test('prints what it says', { timeout: 60_000 }, async () => {
    expect(promised(text)).not.toBe('');
    const { stdout, stderr } = await run(process.execPath, ['--import', 'tsx', `${folder}/${name}`]);
    expect(stdout).toBe(promised(text));
    expect(stderr).toBe('');
  });
});
