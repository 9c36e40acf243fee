import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { launch, look, type Seen, browserTest as test } from '../http/browser.js';

describe('the page of the orchestrator', () => {
  const directory = mkdtempSync(join(tmpdir(), 'orchestrator-page-'));
  let orchestrator: ChildProcess | undefined;
  let browser: Browser | undefined;
  let url = '';
  let seen: Seen;

  beforeAll(async () => {
    browser = await launch();
    if (browser === undefined) return;
    // An irreversible step that does not end: the lease is there for as long as the test looks at it.
    const env = { ...process.env, PORT: '0', TICK_MS: '100', EFFECT_MS: '600000', JOB_COMMAND: 'true' };
    const args = ['--import', 'tsx', 'examples/orchestrator/main.ts', directory];
    const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    orchestrator = started;
    for await (const chunk of started.stdout) {
      url = String(chunk).trim();
      break;
    }
    seen = await look(browser, url);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    orchestrator?.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });

  test('shows the tasks, jobs, leases, events and counters as they come', { timeout: 60_000 }, async () => {
    const { page } = seen;
    await page.getByText('Nobody. Every task is free to be moved.').waitFor();
    const body = JSON.stringify({ repo: 'web', sha: '0b5a3f1' });
    await fetch(`${url}/tasks`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

    const lease = page.locator('#leases tbody tr');
    await lease.getByText('live').waitFor();
    expect(await lease.innerText()).toMatch(
      /^1\s+monitor\s+deploy-staging\s+1\s.*live claim-registered\s+this one, pid \d+/s,
    );
    const task = page.getByRole('table', { name: 'tasks' }).getByRole('row').nth(1);
    expect(await task.innerText()).toMatch(/^1\s+web\s+0b5a3f1\s+deploy-staging/);
    const job = page.getByRole('table', { name: 'jobs' }).getByRole('row').nth(1);
    expect(await job.innerText()).toMatch(/^1\s+1\s+deploy-staging\s+running\s+1\s+\d+/);
    await page.locator('#events li', { hasText: 'effect.started' }).getByText('effect merge_pr').waitFor();
    await page.locator('#counters div', { hasText: 'effects started' }).getByText('1').waitFor();
  });

  test('lets an operator take a lease away, and says by whom and why', { timeout: 60_000 }, async () => {
    const { page } = seen;
    await page.getByRole('button', { name: 'Release task 1' }).click();
    await page.getByLabel('Your name').first().fill('ada');
    await page.getByLabel('Reason').first().fill('wrong coverage baseline');
    await page.getByRole('button', { name: 'Release it' }).click();
    const acted = page.locator('#events li', { hasText: 'operator.acted' });
    await acted.getByText('by ada · reason wrong coverage baseline').waitFor();
    // The reconciler takes the task up again, under a greater token.
    await page.locator('#leases tbody').getByText('reconciler').waitFor();
  });

  test('asks nobody but its server, and finds nothing wrong with itself', async () => {
    expect([...seen.asked]).toEqual([url]);
    expect(seen.errors).toEqual([]);
  });
});
