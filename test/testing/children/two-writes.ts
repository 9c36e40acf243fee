import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { killable } from '../../../src/testing/index.js';

interface Tables {
  note: { text: string };
}

const database = new Database(process.env['NOTES']);
const db = new Kysely<Tables>({ dialect: killable(new SqliteDialect({ database })) });
await db.insertInto('note').values({ text: 'one' }).execute();
await db.insertInto('note').values({ text: 'two' }).execute();
await db.destroy();
process.disconnect();
