import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { testIf } from '../process/permitted.js';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const folders = (process.env['PATH'] ?? '').split(delimiter);
const executable = folders
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((path) => existsSync(path));
const test = testIf(executable !== undefined, `no Chromium is installed (${names.join(', ')})`);

/** What keeps the browser from talking to anybody but the page. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

describe('the page of the orchestrator', () => {
  const directory = mkdtempSync(join(tmpdir(), 'orchestrator-page-'));
  const told = { errors: [] as string[], asked: new Set<string>() };
  let orchestrator: ChildProcess | undefined;
  let browser: Browser | undefined;
  let url = '';
  let page: Page;

  beforeAll(async () => {
    if (executable === undefined) return;
    // An irreversible step that does not end: the lease is there for as long as the test looks at it.
    const env = { ...process.env, PORT: '0', TICK_MS: '100', EFFECT_MS: '600000', JOB_COMMAND: 'true' };
    const args = ['--import', 'tsx', 'examples/orchestrator/main.ts', directory];
    const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    orchestrator = started;
    for await (const chunk of started.stdout) {
      url = String(chunk).trim();
      break;
    }
    browser = await chromium.launch({ executablePath: executable, args: quiet });
    page = await browser.newPage({ colorScheme: 'light' });
    page.on('pageerror', (error) => told.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') told.errors.push(message.text());
    });
    page.on('request', (request) => told.asked.add(new URL(request.url()).origin));
    await page.goto(url);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    orchestrator?.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });

  test('shows the tasks, jobs, leases, events and counters as they come', { timeout: 60_000 }, async () => {
    await page.getByText('Nobody. Every task is free to be moved.').waitFor();
    await page.getByLabel('repo').fill('web');
    await page.getByLabel('commit').fill('0b5a3f1');
    await page.getByRole('button', { name: 'Ship it' }).click();

    const lease = page.locator('#leases tbody tr');
    await lease.getByText('live').waitFor();
    expect(await lease.innerText()).toMatch(
      /^1\s+monitor\s+deploy-staging\s+1\s.*live claim-registered\s+this one, pid \d+/s,
    );
    const task = page.locator('#tasks tbody tr');
    expect(await task.innerText()).toMatch(/^1\s+web\s+0b5a3f1\s+deploy-staging → deploy → done\s+running\s+1\s+\d+/);
    await page.locator('#events li', { hasText: 'effect.started' }).getByText('effect merge_pr').waitFor();
    await page.locator('#counters div', { hasText: 'effects started' }).getByText('1').waitFor();
  });

  test('lets an operator take a lease away, and says by whom and why', { timeout: 60_000 }, async () => {
    await page.getByRole('button', { name: 'Take away…' }).click();
    await page.getByLabel('you').fill('ada');
    await page.getByLabel('why').fill('wrong coverage baseline');
    await page.getByRole('button', { name: 'Take it away' }).click();
    const acted = page.locator('#events li', { hasText: 'operator.acted' });
    await acted.getByText('by ada · reason wrong coverage baseline').waitFor();
    // The reconciler takes the task up again, under a greater token.
    await page.locator('#leases tbody').getByText('reconciler').waitFor();
  });

  test('does nothing when the operator thinks better of it', { timeout: 60_000 }, async () => {
    await page.getByRole('button', { name: 'Take away…' }).click();
    await page.getByRole('button', { name: 'Leave it' }).click();
    const closed = await page.locator('#release').getAttribute('open');
    expect(closed).toBeNull();
    expect(await page.locator('#events li', { hasText: 'operator.acted' }).count()).toBe(1);
  });

  test('is light or dark as the viewer likes', { timeout: 60_000 }, async () => {
    const ground = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await ground()).not.toBe(light);
  });

  test('asks nobody but its server, and finds nothing wrong with itself', async () => {
    expect([...told.asked]).toEqual([url]);
    expect(told.errors).toEqual([]);
  });
});
