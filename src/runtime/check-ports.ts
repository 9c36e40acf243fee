import { checkFunction, checkObject } from '../core/check.js';
import { shown } from '../core/shown.js';
import type { Ports } from '../port/ports.js';

/** What each port must be able to do. */
const FUNCTIONS: Readonly<Record<Exclude<keyof Ports, 'identity'>, readonly string[]>> = {
  clock: ['monotonicMs', 'wallMs', 'sleep', 'schedule'],
  processes: ['sight'],
  registry: ['get', 'set', 'delete'],
  randomness: ['claim', 'fraction'],
};

/** Refuses a port that would fail in the middle of things. */
export function checkPorts(ports: Ports): void {
  for (const [port, functions] of Object.entries(FUNCTIONS)) {
    const given: unknown = ports[port as keyof Ports];
    checkObject(port, given);
    for (const name of functions) checkFunction(`${port}.${name}`, Reflect.get(given, name));
  }
  const { identity } = ports;
  checkObject('identity', identity);
  const { bootId, pid, host, start } = identity;
  for (const [name, value] of Object.entries({ bootId, host })) {
    if (typeof value !== 'string') throw new TypeError(`identity.${name} must be a string, got ${shown(value)}`);
  }
  if (typeof pid !== 'number') throw new TypeError(`identity.pid must be a number, got ${shown(pid)}`);
  if (start !== null && typeof start !== 'string') {
    throw new TypeError(`identity.start must be a string or null, got ${shown(start)}`);
  }
}
