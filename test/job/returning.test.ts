import { prove } from './proofs.js';
import { returning } from './returning.js';

prove('a way back to the queue', 'returning', returning);
