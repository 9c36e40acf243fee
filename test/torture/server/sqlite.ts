import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import type { Server } from './server.js';

/** A file that every worker opens. */
export async function sqliteFile(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-'));
  const memory = new BetterSqlite3(':memory:');
  const version = memory.prepare<[], string>('select sqlite_version()').pluck().get();
  memory.close();
  return {
    name: `SQLite ${String(version)}`,
    address: { dialect: 'sqlite', file: join(folder, 'orchestrator.sqlite') },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
