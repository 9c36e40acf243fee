import { prove } from '../rig/proofs.js';
import { handling, held } from './handling.js';
import { inside } from './inside.js';
import { observing } from './observing.js';
import { regime } from './regime.js';

prove('a handler under a lease', handling);
prove('what a handler is handed', held);
prove('the inside of a handler', inside);
prove('the kill switch, the scope and the failure policy', regime);
prove('observing, and leases without a row', observing);
