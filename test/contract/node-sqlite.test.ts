import { contract } from './contract.js';
import { nodeSqliteFile } from './stores/node-sqlite.js';

contract(nodeSqliteFile);
