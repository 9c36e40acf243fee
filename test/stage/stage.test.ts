import { prove } from '../rig/proofs.js';
import { fenced } from './fenced.js';
import { triggers, unfenced } from './unfenced.js';

prove('a stage write with a lease', fenced);
prove('a stage write without a lease', unfenced);
prove('a stage write beside triggers', triggers);
