import { prove } from '../rig/proofs.js';
import { plans } from './plans.js';

prove('the plans of the statements', plans);
