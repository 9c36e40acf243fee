import { argument, obey } from '../child/obey.js';
import { type OnServerSetup, onServer } from '../child/on-server.js';

const commands = onServer(argument() as OnServerSetup);
await obey(commands);
await commands.destroy();
