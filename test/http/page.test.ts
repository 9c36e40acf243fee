import { sql } from 'kysely';
import type { Browser, Locator } from 'playwright-core';
import { acquireLease, inspectLease, releaseLease, runEffect } from 'transition-ownership';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { launch, look, browserTest as test } from './browser.js';
import { listen, openSite } from './site.js';

const TIME = { timeout: 60_000 };

let browser: Browser | undefined;
beforeAll(async () => {
  browser = await launch();
}, 60_000);
afterAll(async () => browser?.close());

/** A page on which task 1 is held, and an effect of task 2 was broken off. */
async function openPage({ takesOrders = true, width = 1_280 } = {}) {
  if (browser === undefined) throw new Error('there is no browser');
  const site = await openSite({
    basePath: '/ops',
    queue: () => ({ tasks: [{ id: 1, repo: '<b>web</b>' }], note: 'not a list', deliveries: [] }),
    ...(takesOrders && { authorize: () => true }),
  });
  const { ownership } = site;
  const lease = (await acquireLease(ownership, { taskId: 1, actor: 'monitor', stage: 'deploy' }))._unsafeUnwrap();
  const broken = (await acquireLease(ownership, { taskId: 2, actor: 'finalizer' }))._unsafeUnwrap();
  const apply = () => Promise.reject(new Error('hung up'));
  void (await runEffect(ownership, broken, { effect: 'merge_pr', key: 'c0ffee', apply }));
  void (await releaseLease(ownership, broken));
  const server = await listen(site.handler);
  const seen = await look(browser, `${server.url}/ops`, { viewport: { width, height: 900 } });
  await seen.page.getByText('live claim-registered').waitFor();
  return {
    ...seen,
    ...site,
    lease,
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      await seen.page.close();
      await server.close();
      await site[Symbol.asyncDispose]();
    },
  };
}

describe('the page', () => {
  test('shows who holds what, what was broken off, and what the application adds, as text', TIME, async () => {
    await using at = await openPage();
    const { page } = at;
    const lease = page.getByRole('table', { name: 'Who owns a transition now' }).getByRole('row').nth(1);
    expect(await lease.innerText()).toMatch(/^1\s+monitor\s+deploy\s+1\s.*live claim-registered\s+this one, pid \d+/s);
    const broken = page.getByRole('table', { name: 'Broken-off transitions' }).getByRole('row').nth(1);
    expect(await broken.innerText()).toMatch(/^2\s+hold .*\s+merge_pr/s);
    const effect = page.getByRole('table', { name: 'Unfinished effects' }).getByRole('row').nth(1);
    expect(await effect.innerText()).toMatch(/^2\s+merge_pr\s+c0ffee\s+2\s.*\sstarted\s/s);
    expect(await page.getByRole('table', { name: 'tasks' }).getByRole('row').nth(1).innerText()).toMatch(
      /^1\s+<b>web<\/b>/,
    );
    await page.getByRole('region', { name: 'deliveries' }).getByText('None.').waitFor();
    await page.locator('#events li', { hasText: 'effect.unknown' }).getByText('effect merge_pr').waitFor();
    await page.locator('#counters div', { hasText: 'effects unknown' }).getByText('1').waitFor();
  });

  test('releases a lease by the keyboard alone, by token, name and reason', TIME, async () => {
    await using at = await openPage();
    const { page, ownership } = at;
    const button = page.getByRole('button', { name: `Release task 1, token ${at.lease.fencingToken}` });
    for (let tabs = 0; tabs < 30; tabs += 1) {
      await page.keyboard.press('Tab');
      if (await isFocused(button)) break;
    }
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Release the lease' });
    await dialog.getByText('held by monitor under token 1').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await isFocused(button)).toBe(true);
    expect((await inspectLease(ownership, 1))._unsafeUnwrap().state).toBe('held');

    await page.keyboard.press('Enter');
    await page.keyboard.type('ada');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong branch');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Done.').waitFor();
    await page.locator('#events li', { hasText: 'operator.acted' }).getByText('by ada · reason wrong branch').waitFor();
    await page.getByText('Nobody. Every task is free to be moved.').waitFor();
    expect((await inspectLease(ownership, 1))._unsafeUnwrap().state).toBe('free');
  });

  test('an order cannot be given without a name and a reason', TIME, async () => {
    await using at = await openPage();
    const { page } = at;
    await page.getByRole('button', { name: 'Release task 1' }).click();
    await page.getByRole('button', { name: 'Release it' }).click();
    expect((await page.locator('dialog[open] input[name=by]:invalid').count()) === 1).toBe(true);
    await page.getByRole('dialog').getByText('Release the lease').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    expect((await inspectLease(at.ownership, 1))._unsafeUnwrap().state).toBe('held');
  });

  test('an order about a lease that has changed hands is refused, in the words of the library', TIME, async () => {
    await using at = await openPage();
    const { page, ownership } = at;
    await page.getByRole('button', { name: 'Release task 1' }).click();
    await page.getByRole('textbox', { name: 'Your name' }).fill('ada');
    await page.getByRole('textbox', { name: 'Reason' }).fill('wrong branch');
    void (await releaseLease(ownership, at.lease));
    void (await acquireLease(ownership, { taskId: 1, actor: 'successor' }));
    await page.getByRole('button', { name: 'Release it' }).click();
    await page.getByRole('alert').getByText('successor').waitFor();
    expect((await inspectLease(ownership, 1))._unsafeUnwrap().state).toBe('held');
    expect(at.errors).toEqual(['Failed to load resource: the server responded with a status of 409 (Conflict)']);
  });

  test('abandons the transition of an owner that is dead', TIME, async () => {
    await using at = await openPage();
    const { page } = at;
    await sql`update transition_lease set expires_ms = 1`.execute(at.db);
    await page.getByRole('button', { name: 'Abandon task 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Abandon the transition' });
    await dialog.getByText('dead (expired)').waitFor();
    await page.getByRole('textbox', { name: 'Your name' }).fill('ada');
    await page.getByRole('textbox', { name: 'Reason' }).fill('the branch is gone');
    await page.getByRole('button', { name: 'Abandon it' }).click();
    await page.getByText('Nobody. Every task is free to be moved.').waitFor();
  });

  test('takes down what became of an effect', TIME, async () => {
    await using at = await openPage();
    const { page } = at;
    await page.getByRole('button', { name: 'Resolve merge_pr of task 2' }).click();
    await page.getByLabel('It was applied').check();
    await page.getByRole('textbox', { name: 'Your name' }).fill('ada');
    await page.getByRole('textbox', { name: 'Reason' }).fill('it is on main');
    await page.getByRole('button', { name: 'Write it down' }).click();
    await page.getByText('None. The end of every effect is known.').waitFor();
    expect(at.events.at(-1)).toMatchObject({ type: 'effect.applied', by: 'operator' });
  });

  test('explains one task, and says where there is none to explain', TIME, async () => {
    await using at = await openPage();
    const { page } = at;
    await page.getByRole('button', { name: 'Explain task 2' }).click();
    await page.locator('#explanation').getByText('merge_pr').waitFor();
    await page.getByLabel('Task', { exact: true }).fill('seven');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('taskId must be').waitFor();
  });

  test('gives no orders where none are taken', TIME, async () => {
    await using at = await openPage({ takesOrders: false });
    await at.page.getByText('live, to look at only').waitFor();
    expect(await at.page.getByRole('button', { name: /Release|Resolve/ }).count()).toBe(0);
  });

  test('says so when the database does not answer, and that what it shows is old', TIME, async () => {
    await using at = await openPage();
    await at.page.getByRole('status').getByText('live').waitFor();
    await at.db.destroy();
    await at.page.getByRole('status').getByText('the database does not answer').waitFor();
  });

  test('keeps the focus while what it shows changes', TIME, async () => {
    await using at = await openPage();
    const { page } = at;
    const button = page.getByRole('button', { name: 'Release task 1' });
    await button.focus();
    void (await acquireLease(at.ownership, { taskId: 3, actor: 'worker' }));
    await page.getByRole('button', { name: 'Release task 3' }).waitFor();
    expect(await isFocused(button)).toBe(true);
  });

  test('fits 390 px: nothing is cut off, and a row still is a row to a screen reader', TIME, async () => {
    await using at = await openPage({ width: 390 });
    const { page } = at;
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    const row = page.getByRole('table', { name: 'Who owns a transition now' }).getByRole('row').nth(1);
    expect(await row.getByRole('cell').first().innerText()).toBe('1');
    const button = page.getByRole('button', { name: 'Release task 1' });
    const box = await button.boundingBox();
    expect((box?.x ?? 999) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
    await button.click();
    const dialog = await page.getByRole('dialog').boundingBox();
    expect((dialog?.x ?? 999) + (dialog?.width ?? 999)).toBeLessThanOrEqual(390);
  });

  test.each(['light', 'dark'] as const)(
    'is readable when it is %s: text has 4.5 to 1 against its ground',
    TIME,
    async (colorScheme) => {
      await using at = await openPage();
      await at.page.emulateMedia({ colorScheme });
      expect(await at.page.evaluate<string[]>(FAINT)).toEqual([]);
      const ground = await at.page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
      expect(ground).toBe(colorScheme === 'light' ? 'rgb(246, 247, 249)' : 'rgb(20, 23, 28)');
    },
  );

  test('asks nobody but its server, and finds nothing wrong with itself under its own policy', TIME, async () => {
    await using at = await openPage();
    expect([...at.asked]).toEqual([at.url]);
    expect(at.errors).toEqual([]);
    // Every control has a name.
    const nameless = 'button, input, table, [role=region], dialog';
    const tree = await at.page.locator('body').ariaSnapshot();
    expect(tree).not.toMatch(/^\s*- (?:button|textbox|table|dialog)\s*:?$/m);
    expect(await at.page.locator(nameless).count()).toBeGreaterThan(8);
  });
});

const isFocused = async (control: Locator): Promise<boolean> =>
  (await control.and(control.page().locator(':focus')).count()) === 1;

/** Texts that are too faint, by the formula of WCAG. */
const FAINT = `(() => {
  const rgb = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const groundOf = (element) => { for (let each = element; each; each = each.parentElement) { const color = getComputedStyle(each).backgroundColor; if ((rgb(color)[3] ?? 1) === 1) return color; } return 'rgb(255, 255, 255)'; };
  return [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')).flatMap((element) => {
    const color = rgb(getComputedStyle(element).color);
    if (color[3] === 0) return [];
    const [one, other] = [light(color), light(rgb(groundOf(element)))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    return contrast < 4.5 ? [element.tagName + ' ' + element.textContent.slice(0, 30) + ' ' + contrast.toFixed(2)] : [];
  });
})()`;
