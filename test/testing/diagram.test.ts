import { afterAll, describe, expect, test } from 'vitest';
import { explore, type Failure, memoryStore, type Scenario } from '../../src/testing/index.js';
import * as leases from './leases.js';

const guarded = memoryStore({ migrate: leases.migrateLease({ guarded: true }) });
const unguarded = memoryStore({ migrate: leases.migrateLease({ guarded: false }) });

afterAll(async () => {
  await Promise.all([guarded.close(), unguarded.close()]);
});

async function failureOf(store: typeof guarded, scenario: Scenario<leases.LeaseTables>): Promise<Failure> {
  const { failure } = await explore(store, scenario);
  if (failure === undefined) throw new Error('nothing was found');
  return failure;
}

const checkThenAct = () => failureOf(unguarded, leases.workers(leases.checkThenAct, 'AB'));
const paused = () =>
  failureOf(guarded, leases.workers(leases.unfencedWrite, 'AB', { clockJumps: 1, jumpsMs: [leases.ttlMs] }));

describe('the message of a failure', () => {
  test('is the broken rule, a space-time diagram, and the line that runs it again', async () => {
    expect((await checkThenAct()).message).toMatchInlineSnapshot(`
      "a fencing token is granted once: token 1 was granted to B and to A

      6 steps on memory. Time runs down, counted from 1,000,000 ms on the virtual clock. Each column is
      one start of a process; after → stands what came back. The last column shows what the step did to the rows.

                  │ A (pid 101)                       │ B (pid 201)                       │ rows
      ────────────┼───────────────────────────────────┼───────────────────────────────────┼───────────────────────────────────
        1    0 ms │ starts                            │                                   │
        2    0 ms │ select * from lease where task =  │                                   │
                  │   't' order by fencing_token desc │                                   │
                  │   limit 1                         │                                   │
                  │ → no rows                         │                                   │
        3    0 ms │                                   │ starts                            │
        4    0 ms │                                   │ select * from lease where task =  │
                  │                                   │   't' order by fencing_token desc │
                  │                                   │   limit 1                         │
                  │                                   │ → no rows                         │
        5    0 ms │                                   │ insert into lease (task, owner,   │ + lease: task=t owner=B
                  │                                   │   boot_id, fencing_token,         │   boot_id=boot-B-1 fencing_token=1
                  │                                   │   expires_ms) values ('t', 'B',   │   expires_ms=1000100
                  │                                   │   'boot-B-1', 1, 1000100)         │
                  │                                   │ → 1 row written                   │
        6    0 ms │ insert into lease (task, owner,   │                                   │ + lease: task=t owner=A
                  │   boot_id, fencing_token,         │                                   │   boot_id=boot-A-1 fencing_token=1
                  │   expires_ms) values ('t', 'A',   │                                   │   expires_ms=1000100
                  │   'boot-A-1', 1, 1000100)         │                                   │
                  │ → 1 row written                   │                                   │
         ✗ a fencing token is granted once: token 1 was granted to B and to A

      Run it again:
        await replay(store, scenario, 's2.1bi2ou4.0vbe0rhm1vbe1rhm1r5v0r5v')"
    `);
  });

  test('shows a clock jump across all lanes, and what a step did to the rows', async () => {
    const { message } = await paused();
    expect(message).toMatch(/│ ~~~~ every clock jumps 100 ms ~~~~$/m);
    expect(message).toMatch(/~ lease: task=t: owner A → B/);
  });

  test('spells out what would steer a terminal: in statements, in answers, in the rule', async () => {
    const work = leases.worker(leases.checkThenAct, '\u001b]0;pwned\u0007\u202e');
    const rule = leases.oneGrantPerToken;
    const { message, violated, trace } = await failureOf(unguarded, {
      processes: { A: work, B: work },
      invariant: { ...rule, rule: `${rule.rule} \u009b2J` },
    });
    for (const told of [message, violated, ...trace]) expect(told).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(violated).toContain('\\u{9b}2J');
    expect(message).toContain('\\u{1b}]0;pwned');
    expect(trace.join()).toContain('\\u{202e}');
  });

  test('is not buried where a runner prints all that an error carries', async () => {
    const failure = await checkThenAct();
    expect(Object.keys(failure).sort()).toEqual(['name', 'token', 'violated']);
    expect(failure).toMatchObject({ error: { name: 'RuleBroken' }, trace: { length: 6 } });
  });

  test('is never wider than a screen of 130 columns', async () => {
    const wide = await failureOf(guarded, leases.workers(leases.racyTakeover, 'ABC', { clockJumps: 1 }));
    for (const line of wide.message.split('\n').slice(4, -3)) expect(line.length).toBeLessThanOrEqual(130);
  });
});

describe('Failure.html', () => {
  /** Every opened element is closed in order; what HTML leaves open is known. */
  function unclosed(html: string): string[] {
    const open: string[] = [];
    const wrong: string[] = [];
    for (const [, slash, name = '', rest = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b((?:"[^"]*"|[^">])*)>/gi)) {
      if (['meta', 'br'].includes(name) || rest.endsWith('/')) continue;
      if (slash === '') open.push(name);
      else if (open.pop() !== name) wrong.push(name);
    }
    return [...wrong, ...open];
  }

  test('is one well-formed page', async () => {
    const html = (await paused()).html();
    expect(html).toMatch(/^<!doctype html>/);
    expect(unclosed(html)).toEqual([]);
    expect(unclosed('<p><b></p>')).toEqual(['p', 'p']);
  });

  test('loads nothing and runs nothing', async () => {
    const html = (await paused()).html().replace('xmlns="http://www.w3.org/2000/svg"', '');
    expect(html).not.toMatch(/https?:|<script|<link|<img|@import|url\((?!#)|\son\w+=/i);
  });

  test('has a lane for each start of a process, a mark for each step, and the violation in red', async () => {
    const failure = await paused();
    const html = failure.html();
    expect(html.match(/class="alive"/g)).toHaveLength(2);
    expect(html.match(/<g class="row">/g)).toHaveLength(failure.trace.length);
    expect(html.match(/class="wrong"/g)).toHaveLength(2);
    expect(html).toContain(`<text class="bad"`);
    expect(html).toContain(failure.token);
  });

  test('escapes what comes from statements and rows', async () => {
    const nasty: Scenario<leases.LeaseTables> = {
      processes: { A: ({ effect }) => effect('<script>alert("&")</script>', () => '<b>') },
      finally: () => Promise.reject(new Error(`<i>'"&`)),
    };
    const html = (await failureOf(guarded, nasty)).html();
    expect(html).not.toMatch(/<script|<i>/);
    expect(html).toContain('&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;');
    expect(unclosed(html)).toEqual([]);
  });

  test('tells of a failure that no schedule is to blame for', async () => {
    const { failure } = await explore(guarded, { processes: { A: ({ work }) => work() }, faults: { failures: 1 } });
    expect(failure?.html()).toContain('No single schedule is to blame');
    expect(failure?.token).toBe('');
  });
});
