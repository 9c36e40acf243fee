import { prove } from '../rig/proofs.js';
import { handling, held } from './handling.js';
import { inside } from './inside.js';
import { regime } from './regime.js';

prove('a handler under a lease', handling);
prove('what a handler is handed', held);
prove('the inside of a handler', inside);
prove('the kill switch, the scope and the failure policy', regime);
