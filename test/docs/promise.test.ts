import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const promises = [...readFileSync('README.md', 'utf8').matchAll(/^\d+\. (.*?) \(\[test\]\((\S+) "(.*?)"\)\)$/gm)];

test('the README numbers its promises', () => {
  expect(promises.length).toBeGreaterThan(15);
});

test.each(promises.map(([, promise = '', file = '', title = '']) => ({ promise, file, title })))(
  '$promise names a test that is there',
  ({ file, title }) => {
    expect(readFileSync(file, 'utf8')).toContain(`'${title}'`);
  },
);
