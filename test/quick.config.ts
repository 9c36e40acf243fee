import { defineConfig, mergeConfig } from 'vitest/config';
import whole from './vitest.config.js';

/** What needs more than this process: a server, children, a browser, a packed library, or minutes. */
const slow = [
  'test/cli/**',
  'test/contract/{mysql,postgres,pglite,simulated}*.test.ts',
  'test/docs/{examples,first-handler-suite,planted-bugs,snippets}.test.ts',
  'test/docs/orchestrator*.test.ts',
  'test/lint.test.ts',
  'test/package/**',
  'test/process/**',
  'test/servers/**',
  'test/simulation/**',
  'test/spec/**',
  'test/testing/{dialect-suite,ownership,real-processes,servers,suites}.test.ts',
  'test/torture/**',
];

const { projects: _, ...shared } = whole.test ?? {};

/** `npm run test:quick`: most of the tests, while one works. Without the addresses of servers their tests are left out. */
export default mergeConfig(
  { ...whole, test: shared },
  defineConfig({
    test: {
      include: ['test/**/*.test.ts'],
      exclude: slow,
      maxWorkers: 2,
      env: { TEST_POSTGRES_URL: '', TEST_MYSQL_URL: '', TEST_DATABASES_REQUIRED: '' },
    },
  }),
);
