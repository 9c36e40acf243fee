import { prove } from './proofs.js';
import { reaping } from './reaping.js';

prove('the reaper', 'reaping', reaping);
