import { prove, proveOn } from '../rig/proofs.js';
import { counts } from './counts.js';
import { plans } from './plans.js';

proveOn('the number of statements', counts, {});
prove('the plans of the statements', plans);
