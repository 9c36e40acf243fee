import { prove } from '../rig/proofs.js';
import { crashes } from './crashes.js';

prove('an effect whose process is killed', crashes);
