import { contract } from './contract.js';
import { postgresByPostgresJs } from './stores/postgres.js';

contract(postgresByPostgresJs);
