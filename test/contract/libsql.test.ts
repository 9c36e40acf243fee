import { contract } from './contract.js';
import { libsql } from './stores/libsql.js';

contract(libsql);
