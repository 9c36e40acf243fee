import { contract } from './contract.js';
import { pglite } from './stores/pglite.js';

contract(pglite);
