import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { testIf } from '../process/permitted.js';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const folders = (process.env['PATH'] ?? '').split(delimiter);
const executable = folders
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** A test that needs a browser; where none is installed it is passed over, or fails if everything is required. */
export const browserTest = testIf(executable !== undefined, `no Chromium is installed (${names.join(', ')})`);

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

/** A page, with what went wrong in it and whom it asked. */
export interface Seen {
  readonly page: Page;
  readonly errors: readonly string[];
  readonly asked: ReadonlySet<string>;
}

/** Starts the browser; `undefined` where there is none, and its tests are passed over. */
export async function launch(): Promise<Browser | undefined> {
  return executable === undefined ? undefined : chromium.launch({ executablePath: executable, args: quiet });
}

/** Opens an address in a page of its own. */
export async function look(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Seen> {
  const page = await browser.newPage({ colorScheme: 'light', ...options });
  const errors: string[] = [];
  const asked = new Set<string>();
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  await page.goto(url);
  return { page, errors, asked };
}
