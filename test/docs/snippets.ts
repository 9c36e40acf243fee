import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** A piece of TypeScript that a reader sees, and may copy. */
export interface Snippet {
  /** Where it stands: file and line. */
  readonly at: string;
  readonly code: string;
}

const root = join(import.meta.dirname, '../..');
const generated = join(import.meta.dirname, '.snippets');

/** The `ts` blocks of a Markdown file. */
export function markdownSnippets(file: string): Snippet[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => ({
    at: `${file}:${String(lineOf(text, match.index))}`,
    code: match[1] ?? '',
  }));
}

/** The `ts` blocks in the doc comments of the sources. */
export function commentSnippets(folder: string): Snippet[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(root, folder, file), 'utf8');
    return [...text.matchAll(/^ *\* ```ts\n(.*?)^ *\* ```$/gms)].map((match) => ({
      at: `${join(folder, file)}:${String(lineOf(text, match.index))}`,
      code: (match[1] ?? '').replaceAll(/^ *\* ?/gm, ''),
    }));
  });
}

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;

/** Lays snippets out as modules, each in a folder of its own beside the set-ups that it may import. */
export function layOut(
  name: string,
  snippets: readonly Snippet[],
): { readonly snippet: Snippet; readonly file: string }[] {
  const folder = join(generated, name);
  rmSync(folder, { recursive: true, force: true });
  const beside = ['setup.ts', 'scenario.ts'].map((name) => ({
    name,
    text: readFileSync(join(import.meta.dirname, name), 'utf8'),
  }));
  return snippets.map((snippet, index) => {
    const own = join(folder, String(index));
    mkdirSync(own, { recursive: true });
    for (const { name, text } of beside) writeFileSync(join(own, name), text);
    const file = join(own, 'snippet.ts');
    writeFileSync(file, `${snippet.code}\nexport {};\n`);
    return { snippet, file };
  });
}

/** What the compiler says of files, under the project's own settings less those against unused names. */
export function compile(files: readonly string[]): string[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const program = ts.createProgram([...files], { ...options, noUnusedLocals: false, noUnusedParameters: false });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText, start }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    return `${relative(root, file?.fileName ?? '')}:${String(line)} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}
