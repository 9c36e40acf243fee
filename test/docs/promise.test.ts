import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const readme = readFileSync('README.md', 'utf8');
const { homepage } = JSON.parse(readFileSync('package.json', 'utf8')) as { homepage: string };
const base = `${homepage}/blob/main/`;
const promises = [...readme.matchAll(/^\d+\. (.*?) \(\[test\]\((\S+) "(.*?)"\)\)$/gm)];

test('every link of the README is absolute, for npm shows it too, and what it names is there', () => {
  const links = [...readme.matchAll(/\]\(([^)\s]+)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !link.startsWith('https://'))).toEqual([]);
  const own = links.filter(
    (link) => /github\.com\/[^/]+\/transition-ownership/.test(link) || link.startsWith(homepage),
  );
  expect(own.length).toBeGreaterThan(25);
  expect(own.filter((link) => !link.startsWith(base) || !existsSync(link.slice(base.length)))).toEqual([]);
});

test('the README numbers its promises', () => {
  expect(promises.length).toBeGreaterThan(15);
});

test.each(promises.map(([, promise = '', file = '', title = '']) => ({ promise, file, title })))(
  '$promise names a test that is there',
  ({ file, title }) => {
    expect(readFileSync(file.slice(base.length), 'utf8')).toContain(`'${title}'`);
  },
);
