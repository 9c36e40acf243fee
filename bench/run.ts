import { sqliteTable } from './sqlite/table.js';

await sqliteTable();
