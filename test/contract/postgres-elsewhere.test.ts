import { contract } from './contract.js';
import { postgresElsewhere } from './stores/postgres.js';

process.env['TZ'] = 'Asia/Kathmandu';
contract(postgresElsewhere);
