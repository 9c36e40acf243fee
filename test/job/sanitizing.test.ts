import { prove } from './proofs.js';
import { sanitizing } from './sanitizing.js';

prove('sanitizing', 'sanitizing', sanitizing);
