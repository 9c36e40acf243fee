import { contract } from './contract.js';
import { mysqlElsewhere } from './stores/mysql.js';

process.env['TZ'] = 'Asia/Kathmandu';
contract(mysqlElsewhere);
