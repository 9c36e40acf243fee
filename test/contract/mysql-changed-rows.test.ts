import { contract } from './contract.js';
import { mysqlChangedRows } from './stores/mysql.js';

contract(mysqlChangedRows);
