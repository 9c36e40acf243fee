import { claiming } from './claiming.js';
import { prove } from './proofs.js';

prove('a claim', 'claiming', claiming);
