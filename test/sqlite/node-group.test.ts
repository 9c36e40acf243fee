import { grouped } from './grouped.js';
import { byNode } from './openers.js';

grouped(byNode);
