import { expect, test } from 'vitest';
import { Child, start } from './children.js';
import { type Look, newFile } from './file.js';
import type { CrowdSetup } from './programs/crowd.js';

const TASKS = 4;
/** `begin`, an insert for each, `commit`; `begin`, a savepoint, a write, a release and the end of it for each, `commit`. */
const STATEMENTS = 2 + TASKS + 2 + 4 * TASKS;

async function prepared(): Promise<Look> {
  const file = newFile(TASKS);
  const child = start({ file: file.path });
  await child.call('schema');
  await child.call('destroy');
  return file;
}

const crowd = (file: Look, dieAt: number) => {
  const setup: CrowdSetup = { file: file.path, tasks: TASKS, dieAt };
  return new Child('crowd', setup);
};

test('SIGKILL at any statement of transitions at once leaves all of a commit or nothing', async () => {
  const origin = await prepared();
  const alive = crowd(origin.copy(), 0);
  expect(await alive.said('survived')).toMatchObject({ statements: STATEMENTS });
  const seen = new Set<string>();
  for (let dieAt = 1; dieAt <= STATEMENTS; dieAt += 1) {
    const file = origin.copy();
    const child = crowd(file, dieAt);
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL' });
    const [held, moved] = [file.leases().length, file.rows(`select 1 from tasks where stage = 'done'`).length];
    seen.add(`${held} held, ${moved} moved`);
    // No answer came before its commit.
    if (moved === 0) expect(child.unheard('moved')).toBe(true);
    if (held === 0 && moved === 0) expect(child.unheard('acquired')).toBe(true);
  }
  // The first goes alone, for nothing waits yet; all others share their commits.
  const apart = ['1 held, 0 moved', `${TASKS - 1} held, 1 moved`];
  const together = ['0 held, 0 moved', `${TASKS} held, 0 moved`];
  expect([...seen].filter((state) => !apart.includes(state)).sort()).toEqual(together);
});
