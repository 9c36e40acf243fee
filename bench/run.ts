import { printMachine } from './machine.js';
import { mysqlTable } from './mysql/table.js';
import { postgresTable } from './postgres/table.js';
import { sqliteTable } from './sqlite/table.js';

const { TEST_POSTGRES_URL, TEST_MYSQL_URL } = process.env;
printMachine();
if (!process.argv[2]) await sqliteTable();
if (TEST_POSTGRES_URL && process.argv[2] !== 'mysql') await postgresTable(TEST_POSTGRES_URL);
if (TEST_MYSQL_URL) await mysqlTable(TEST_MYSQL_URL);
