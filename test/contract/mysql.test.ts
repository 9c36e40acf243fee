import { contract } from './contract.js';
import { mysql } from './stores/mysql.js';

contract(mysql);
