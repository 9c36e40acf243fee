import { prove } from '../rig/proofs.js';
import { acquisition } from './acquisition.js';
import { closing } from './closing.js';
import { keeping, locked } from './keeping.js';
import { many } from './many.js';
import { operation } from './operation.js';
import { provisional } from './provisional.js';
import { registry } from './registry.js';
import { release } from './release.js';

prove('acquisition', acquisition);
prove('many leases at once', many);
prove('release', release);
prove('leases in a transaction', provisional);
prove('keeping', keeping);
prove('keeping beside locked rows', locked);
prove('closing', closing);
prove('operation', operation);
prove('the registry', registry);
