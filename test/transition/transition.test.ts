import { prove } from '../rig/proofs.js';
import { handling, held } from './handling.js';

prove('a handler under a lease', handling);
prove('what a handler is handed', held);
