import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { refuseTooNew } from '../../src/sqlite/too-new.js';

/** As better-sqlite3 13 begins: it hands its classes to the binding, and opens the file then. */
function Like13(_file: string, { nativeBinding }: { nativeBinding?: { initialize(): void } } = {}): void {
  if (nativeBinding === undefined) throw new Error('the process would have ended here');
  nativeBinding.initialize();
}
const like13 = Like13 as unknown as typeof BetterSqlite3;

test('openSqlite says that better-sqlite3 13 needs a newer Node, before the driver ends the process', () => {
  expect(() => refuseTooNew(like13, { napi: '9', node: '20.19.0' })).toThrow(
    'better-sqlite3 13 needs Node 22.14 or newer and ends the process on Node 20.19.0: npm install better-sqlite3@12.',
  );
});

test.each([
  ['better-sqlite3 13 where Node is new enough', like13, { napi: '10', node: '22.14.0' }],
  ['better-sqlite3 13 where there is no Node-API to be asked for', like13, {}],
  ['the better-sqlite3 that is installed, on an old Node', BetterSqlite3, { napi: '9', node: '20.19.0' }],
])('%s is let through', (_, driver, versions) => {
  expect(() => refuseTooNew(driver, versions)).not.toThrow();
});
