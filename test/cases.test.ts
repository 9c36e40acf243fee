import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** One case of the list: its number, what happened, and what is said of it. */
interface Case {
  readonly number: string;
  readonly lines: readonly string[];
}

const cases: readonly Case[] = readFileSync('test/cases.md', 'utf8')
  .split(/^(?=\*\*)/m)
  .slice(1)
  .map((text) => {
    const [head = '', ...lines] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return { number: /^\*\*(\w+)\*\* \S/.exec(head)?.[1] ?? head, lines };
  });

test('the list of cases names each once', () => {
  const numbers = cases.map(({ number }) => number);
  expect(numbers.length).toBeGreaterThan(80);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.filter((number) => !/^[A-L]\d+$/.test(number))).toEqual([]);
});

describe('what the list of cases names is there:', () => {
  test.each(cases)('$number', ({ lines }) => {
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const [, path, title] = /^- `([^`]+)`(?:: (.+))?$/.exec(line) ?? [];
      if (path === undefined) expect(line).toMatch(/^- (\(\w+\) )?does not apply: .{20,}\.$/);
      else {
        expect(existsSync(path), path).toBe(true);
        if (title !== undefined) expect(readFileSync(path, 'utf8')).toContain(title);
      }
    }
  });
});
