import { contract } from './contract.js';
import { sqliteFile } from './stores/sqlite.js';

contract(sqliteFile);
