import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..');

/** The place of the cursor in a text. */
export const CURSOR = '⎸';

/** What an editor shows of one file, as the language service of TypeScript tells it. */
export class Editor {
  readonly #service: ts.LanguageService;
  readonly #path = join(root, 'test', 'types', 'edited.ts');
  #text = '';
  #version = 0;

  constructor() {
    const read = ts.readConfigFile(join(root, 'test', 'types', 'tsconfig.json'), (path) => ts.sys.readFile(path));
    const { options: strict } = ts.parseJsonConfigFileContent(read.config, ts.sys, join(root, 'test', 'types'));
    const options = { ...strict, noUnusedLocals: false };
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [this.#path],
      getScriptVersion: (path) => (path === this.#path ? String(this.#version) : '0'),
      getScriptSnapshot: (path) => {
        const text = path === this.#path ? this.#text : ts.sys.readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
      fileExists: (path) => path === this.#path || ts.sys.fileExists(path),
      readFile: (path) => (path === this.#path ? this.#text : ts.sys.readFile(path)),
      readDirectory: (...given) => ts.sys.readDirectory(...given),
      directoryExists: (path) => ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
    });
  }

  /** The names that are offered at the cursor. */
  completions(text: string): readonly string[] {
    const at = this.#edit(text);
    return (this.#service.getCompletionsAtPosition(this.#path, at, {})?.entries ?? []).map(({ name }) => name).sort();
  }

  /** What is shown of the name at the cursor. */
  hover(text: string): string {
    const at = this.#edit(text);
    return ts.displayPartsToString(this.#service.getQuickInfoAtPosition(this.#path, at)?.displayParts);
  }

  /** What the compiler says of a text: where it points, and the whole of what it says. */
  errors(text: string): readonly { readonly at: string; readonly message: string }[] {
    this.#edit(text);
    return this.#service.getSemanticDiagnostics(this.#path).map(({ start = 0, length = 0, messageText }) => ({
      at: this.#text.slice(start, start + length),
      message: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }));
  }

  #edit(text: string): number {
    const at = text.indexOf(CURSOR);
    this.#text = text.replace(CURSOR, '');
    this.#version += 1;
    return at;
  }
}
