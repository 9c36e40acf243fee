import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const top = new URL('../../', import.meta.url);

interface Conditions {
  readonly types: string;
  readonly default: string;
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly import: Conditions; readonly require: Conditions }>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export const manifest = JSON.parse(readFileSync(new URL('package.json', top), 'utf8')) as Manifest;

/** The entry points with code, as `exports` in package.json lists them. */
export const entryPoints = Object.entries(manifest.exports).flatMap(([path, conditions]) =>
  typeof conditions === 'string'
    ? []
    : [
        {
          specifier: path.replace('.', 'transition-ownership'),
          name: path === '.' ? 'index' : path.replace('./', ''),
          declarations: fileURLToPath(new URL(conditions.import.types, top)),
        },
      ],
);
