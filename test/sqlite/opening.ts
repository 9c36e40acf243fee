import { expect, test } from 'vitest';

/** Opens a connection with settings, and reads the one value that a statement returns. */
export interface Opening<Database> {
  readonly open: (options?: { readonly synchronous?: 'full' | 'normal'; readonly busyTimeoutMs?: number }) => Database;
  readonly read: (db: Database, text: string) => Promise<unknown>;
}

const FULL = 2;
const NORMAL = 1;

/** What every opener of SQLite sets. */
export function opensAsTold<Database>({ open, read }: Opening<Database>): void {
  test('opens in WAL with durable commits and a short wait for locks', async () => {
    const db = open();
    expect(await read(db, 'pragma journal_mode')).toBe('wal');
    expect(await read(db, 'pragma synchronous')).toBe(FULL);
    expect(await read(db, 'pragma busy_timeout')).toBe(100);
  });

  test('takes the speed and the wait that it is told', async () => {
    const db = open({ synchronous: 'normal', busyTimeoutMs: 0 });
    expect(await read(db, 'pragma synchronous')).toBe(NORMAL);
    expect(await read(db, 'pragma busy_timeout')).toBe(0);
  });
}
