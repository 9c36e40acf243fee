import { printMachine } from './machine.js';
import { mysqlTable } from './mysql/table.js';
import { oneHost } from './peers/one-host.js';
import { onPostgres } from './peers/postgres.js';
import { postgresTable } from './postgres/table.js';
import { sqliteTable } from './sqlite/table.js';

const { TEST_POSTGRES_URL, TEST_MYSQL_URL } = process.env;

printMachine();
await sqliteTable();
if (TEST_POSTGRES_URL) await postgresTable(TEST_POSTGRES_URL);
else console.log('\nPostgreSQL is left out: TEST_POSTGRES_URL is not set.');
if (TEST_MYSQL_URL) await mysqlTable(TEST_MYSQL_URL);
else console.log('\nMySQL is left out: TEST_MYSQL_URL is not set.');
await oneHost();
if (TEST_POSTGRES_URL) await onPostgres(TEST_POSTGRES_URL);
