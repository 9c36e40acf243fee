import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commentSnippets, compile, layOut, markdownSnippets } from './snippets.js';

const sources = {
  'README.md': markdownSnippets('README.md'),
  'doc comments': commentSnippets('src'),
};

for (const [name, snippets] of Object.entries(sources)) {
  describe(`the snippets of ${name}`, () => {
    const laid = layOut(name.replaceAll(/\W/g, '-'), snippets);

    test('are there', () => {
      expect(laid.length).toBeGreaterThan(1);
    });

    test('compile as they stand', { timeout: 60_000 }, () => {
      const said = compile(laid.map(({ file }) => file));
      expect(
        said.map((line) =>
          line.replace(/^\S*?(\d+)\/snippet\.ts/, (_, index) => laid[Number(index)]?.snippet.at ?? '?'),
        ),
      ).toEqual([]);
    });

    test.each(laid)('$snippet.at runs', { timeout: 60_000 }, async ({ file }) => {
      await expect(import(/* @vite-ignore */ file)).resolves.toBeDefined();
    });
  });
}

test('no block that a reader copies unwraps a failure, and those of the README need no file that is not shown', () => {
  const blocks = Object.values(sources).flat();
  expect(blocks.filter(({ code }) => code.includes('_unsafeUnwrap'))).toEqual([]);
  const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|md)$/.test(name),
  );
  expect(examples.filter((name) => readFileSync(`examples/${name}`, 'utf8').includes('_unsafe'))).toEqual([]);
  expect(sources['README.md'].filter(({ code }) => code.includes("from './"))).toEqual([]);
});

test.each(['README.md', 'examples/guides/test-your-handlers.md'])(
  'the suite that %s shows is the one that runs',
  (page) => {
    const shown = [...readFileSync(page, 'utf8').matchAll(/^```ts (\S+)\n(.*?)^```$/gms)];
    expect(shown.length).toBeGreaterThan(0);
    for (const [, file = '', code] of shown) expect(code).toBe(readFileSync(file, 'utf8'));
  },
);

test('compile finds a snippet that does not fit the types', { timeout: 60_000 }, () => {
  const planted = layOut('planted', [{ at: 'planted', code: 'const answer: number = "a string";' }]);
  expect(compile(planted.map(({ file }) => file))).toEqual([
    expect.stringContaining("Type 'string' is not assignable to type 'number'"),
  ]);
});
