import { prove } from '../rig/proofs.js';
import { assessing } from './assessing.js';
import { probing } from './probing.js';
import { resolving } from './resolving.js';
import { results } from './results.js';
import { running } from './running.js';
import { together } from './together.js';
import { trouble } from './trouble.js';
import { unguarded } from './unguarded.js';

prove('running an effect', running);
prove('running an effect beside others', together);
prove('running an effect that was broken off', probing);
prove('running an effect with the database in trouble', trouble);
prove('the result of an effect', results);
prove('running an effect unguarded', unguarded);
prove('assessing a transition', assessing);
prove('resolving an effect', resolving);
