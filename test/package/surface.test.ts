import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { entryPoints } from './entry-points.js';
import { surfaces } from './surface.js';

describe('the public surface is the committed one (after a wanted change: npm run surface)', () => {
  const texts = surfaces(entryPoints.map(({ declarations }) => declarations));

  test.each(entryPoints.map(({ specifier, name }, index) => [specifier, name, texts[index]] as const))(
    '%s',
    async (specifier, name, text) => {
      await expect(`# ${specifier}\n\n${String(text)}`).toMatchFileSnapshot(`surface/${name}.md`);
    },
  );
});

describe('surfaces', () => {
  const surface = (text: string): string | undefined => {
    const folder = mkdtempSync(join(tmpdir(), 'surface-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    writeFileSync(join(folder, 'index.d.ts'), text);
    return surfaces([join(folder, 'index.d.ts')])[0];
  };
  const before = 'interface Lease { readonly taskId: number } declare const acquire: (id: number) => Lease;';

  test('a change of a type that is spoken of but not exported is seen', () => {
    const after = before.replace('taskId: number', 'taskId: string');
    expect(surface(`${after} export { acquire };`)).not.toBe(surface(`${before} export { acquire };`));
  });

  test('a change of comments or order is none', () => {
    const rest = 'declare const release: () => void;';
    expect(surface(`${rest} /** Acquires. */ ${before} export { release, acquire };`)).toBe(
      surface(`${before} ${rest} export { acquire, release };`),
    );
  });

  test('an export by another name is another export', () => {
    expect(surface(`${before} export { acquire as take };`)).toContain('## take\n');
  });
});
