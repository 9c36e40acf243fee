import { contract } from './contract.js';
import { postgres } from './stores/postgres.js';

contract(postgres);
