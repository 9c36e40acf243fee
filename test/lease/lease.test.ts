import { prove } from '../rig/proofs.js';
import { acquisition } from './acquisition.js';

prove('acquisition', acquisition);
