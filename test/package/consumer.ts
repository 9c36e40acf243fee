import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { manifest } from './entry-points.js';

const top = fileURLToPath(new URL('../..', import.meta.url));

/** Somebody's project that has the packed package and the named ones installed, nothing else. */
export class Consumer {
  readonly folder = mkdtempSync(join(tmpdir(), 'consumer-'));
  /** What is in the package, as npm packs it. */
  readonly packed: readonly string[];

  constructor(installed: readonly string[]) {
    // `dist/` was built by the caller, so npm's life-cycle scripts have nothing to add.
    const [pack] = JSON.parse(
      execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', this.folder], {
        cwd: top,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ filename: string; files: { path: string }[] }];
    this.packed = pack.files.map(({ path }) => path);
    execFileSync('tar', ['-xzf', pack.filename], { cwd: this.folder });
    const modules = join(this.folder, 'node_modules');
    mkdirSync(modules);
    renameSync(join(this.folder, 'package'), join(modules, 'transition-ownership'));
    for (const name of installed) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(top, 'node_modules', name), join(modules, name), 'junction');
    }
    // As npm links the programs of a package.
    mkdirSync(join(modules, '.bin'));
    for (const [name, file] of Object.entries(manifest.bin)) {
      symlinkSync(join(modules, 'transition-ownership', file), join(modules, '.bin', name));
    }
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Runs a program as a module of the kind its name says (`.mjs`, `.cjs`), and gives what it printed. */
  run(name: string, text: string): string {
    return execFileSync(process.execPath, [this.write(name, text)], { cwd: this.folder, encoding: 'utf8' });
  }

  /** Runs a program of the package by its name, as people do. */
  npx(...line: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync('npx', ['--no', '--offline', ...line], { cwd: this.folder, encoding: 'utf8' });
  }

  /** What the compiler says of a program, with the declarations of every library checked too. */
  complaints(name: string, text: string, options: ts.CompilerOptions): string[] {
    const program = ts.createProgram([this.write(name, text)], {
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.esnext.disposable.d.ts'],
      types: ['node'],
      typeRoots: [join(this.folder, 'node_modules', '@types')],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      ...options,
    });
    return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
