import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import noDiscardedResult from './test/house/no-discarded-result.js';

export default defineConfig(
  { ignores: ['**/*.js', 'dist', 'coverage', 'docs', '**/node_modules', 'test/docs/.snippets'] },
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { local: { rules: { 'no-discarded-result': noDiscardedResult } } },
    rules: {
      'local/no-discarded-result': 'error',
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          // An ESM and a CommonJS copy of Kysely are different classes; `db.isTransaction` works across both.
          selector:
            "BinaryExpression[operator='instanceof'][right.name=/^(Kysely|Transaction|ControlledTransaction|\\w+Adapter|\\w+Dialect)$/]",
          message: 'Kysely may be loaded twice: never ask for its classes, ask for what the value can do.',
        },
      ],
      // A ResultAsync is thenable.
      '@typescript-eslint/no-floating-promises': ['error', { checkThenables: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Callers write JavaScript too: what the types call needless, a check of a request needs.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // An async method that awaits nothing still turns what it throws into a rejection.
      '@typescript-eslint/require-await': 'off',
      // `void (await release())` says that a result is left unread on purpose.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // `okAsync<void, E>` needs it.
      '@typescript-eslint/no-invalid-void-type': 'off',
    },
  },
  { files: ['examples/**', 'bench/**', 'src/cli/**'], rules: { 'no-console': 'off' } },
);
