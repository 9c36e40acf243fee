import { contract } from './contract.js';
import { postgresByName } from './stores/postgres.js';

contract(postgresByName);
