import { identity } from './identity.js';
import { prove } from './proofs.js';

prove('a claim of a job', 'identity', identity);
