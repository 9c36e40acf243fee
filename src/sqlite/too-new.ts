import type BetterSqlite3 from 'better-sqlite3';

/** The Node-API that better-sqlite3 13 is built for; under an older one the first file that it opens ends the process. */
const NEEDED = 10;

/** Throws if this better-sqlite3 would end the process: 13 on a Node before 22.14. */
export function refuseTooNew(
  driver: typeof BetterSqlite3,
  { napi = 'none', node = '' }: Partial<Record<string, string>> = process.versions,
): void {
  // Another runtime says no Node-API, or one of its own.
  if (!(Number(napi) < NEEDED) || 'bun' in process.versions || 'deno' in process.versions) return;
  if (!startsAs13(driver)) return;
  throw new Error(
    `better-sqlite3 13 needs Node 22.14 or newer and ends the process on Node ${node}: npm install better-sqlite3@12.`,
  );
}

/** Asks the very class in hand, with a binding that opens nothing: 13 calls another function of it first than 11 and 12. */
function startsAs13(driver: typeof BetterSqlite3): boolean {
  let is13 = false;
  const binding = {
    initialize: () => {
      is13 = true;
      throw new Error('asked');
    },
  };
  try {
    const opened = new driver(':memory:', { nativeBinding: binding as unknown as string });
    opened.close();
  } catch {
    // It cannot open with such a binding, and is not meant to.
  }
  return is13;
}
