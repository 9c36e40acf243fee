import { commandsOf } from '../child/commands.js';
import { argument, obey } from '../child/obey.js';
import type { Setup } from '../child/setup.js';

await obey(commandsOf(argument() as Setup));
