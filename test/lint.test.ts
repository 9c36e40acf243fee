import { ESLint } from 'eslint';
import { beforeAll, describe, expect, test } from 'vitest';

/** The rules that carry the house, on planted lines: `eslint.config.js` as it is, not each rule by itself. */
const cases: readonly (readonly [rule: string, broken: string, kept: string])[] = [
  ['local/no-discarded-result', 'release();', 'export const released = release();'],
  ['local/no-discarded-result', 'await releaseLater();', 'void (await releaseLater());'],
  ['local/no-discarded-result', 'if (flag) release().map(String);', 'release().match(String, String);'],
  [
    'local/no-discarded-result',
    'ok(1).andThen(release);',
    'export const all = safeTry(async function* () { yield* releaseLater(); return ok(1); });',
  ],
  ['@typescript-eslint/no-floating-promises', 'releaseLater();', 'void releaseLater();'],
  ['@typescript-eslint/no-explicit-any', 'export const value: any = 1;', 'export const value: unknown = 1;'],
  [
    '@typescript-eslint/no-non-null-assertion',
    'export const first = (list: number[]) => list[0]!;',
    'export const first = (list: number[]) => list[0];',
  ],
  [
    'no-restricted-syntax',
    'export const is = (db: unknown) => db instanceof Transaction;',
    'export const is = (error: unknown) => error instanceof Error;',
  ],
];

const prelude = `
import { Transaction } from 'kysely';
import { ok, okAsync, safeTry, type Result, type ResultAsync } from 'neverthrow';
declare const flag: boolean;
const release = (): Result<number, string> => ok(1);
const releaseLater = (): ResultAsync<number, string> => okAsync(1);
`;

describe('the linter', () => {
  let eslint: ESLint;
  const rulesBroken = async (line: string): Promise<(string | null)[]> => {
    const [result] = await eslint.lintText(`${prelude}${line}\n`, { filePath: 'planted.ts' });
    return (
      result?.messages.map(({ ruleId }) => ruleId).filter((rule) => rule !== '@typescript-eslint/no-unused-vars') ?? []
    );
  };

  beforeAll(async () => {
    const projectService = { allowDefaultProject: ['planted.ts'], defaultProject: 'tsconfig.json' };
    eslint = new ESLint({ overrideConfig: { languageOptions: { parserOptions: { projectService } } } });
    await rulesBroken('');
  }, 60_000);

  test.each(cases)('%s finds `%s`, not `%s`', async (rule, broken, kept) => {
    expect(await rulesBroken(broken)).toContain(rule);
    expect(await rulesBroken(kept)).toEqual([]);
  });
});
