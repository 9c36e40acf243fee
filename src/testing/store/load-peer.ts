import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * Loads an optional peer when it is first needed.
 *
 * Inside jest's CommonJS sandbox `import()` is refused unless Node was started with a flag: there the peer is required,
 * from where this file is, as `import()` would look for it.
 */
export async function loadPeer<T extends object>(
  name: string,
  load: () => Promise<{ readonly default: T }>,
): Promise<T> {
  try {
    return (await load()).default;
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code');
    if (!String(code).startsWith('ERR_VM_DYNAMIC_IMPORT_CALLBACK')) throw error;
    const required = createRequire(here())(name) as T | { readonly default: T };
    return 'default' in required ? required.default : required;
  }
}

/** This file, where it is CommonJS: the tests may well be run from a folder that does not have the peer. */
const here = () => (typeof __filename === 'string' ? __filename : join(process.cwd(), 'index.js'));
