import { grouped } from './grouped.js';
import { byBetterSqlite3 } from './openers.js';

grouped(byBetterSqlite3);
