import { contract } from './contract.js';
import { sqliteMemory } from './stores/sqlite.js';

contract(sqliteMemory);
