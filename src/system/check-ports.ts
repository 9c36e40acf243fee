import { checkFunction } from '../core/check.js';
import { inspectValue } from '../core/inspect-value.js';
import type { ProcessIdentity } from '../core/process.js';
import { optional, type Rule, type RulesOf } from '../core/request.js';
import type { ClaimRegistry } from '../port/claim-registry.js';
import type { Clock } from '../port/clock.js';
import type { Files } from '../port/files.js';
import type { Ports } from '../port/ports.js';
import type { ProcessTable } from '../port/process-table.js';
import type { Randomness } from '../port/randomness.js';

/** An object of any class that can do this much: one that cannot would fail in the middle of things. */
function port<T extends object>(...functions: readonly (keyof T & string)[]): Rule<T> {
  return (name) => (value) => {
    checkPort(name, value);
    for (const part of functions) checkFunction(`${name}.${part}`, Reflect.get(value, part));
    return value as T;
  };
}

const identity: Rule<ProcessIdentity> = (name) => (value) => {
  checkPort(name, value);
  const { bootId, pid, host, start } = value as Partial<Record<keyof ProcessIdentity, unknown>>;
  for (const [part, text] of Object.entries({ bootId, host })) {
    if (typeof text !== 'string') throw new TypeError(`${name}.${part} must be a string, got ${inspectValue(text)}`);
  }
  if (typeof pid !== 'number') throw new TypeError(`${name}.pid must be a number, got ${inspectValue(pid)}`);
  if (start !== null && typeof start !== 'string') {
    throw new TypeError(`${name}.start must be a string or null, got ${inspectValue(start)}`);
  }
  return value as ProcessIdentity;
};

function checkPort(name: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${name} must be an object, got ${inspectValue(value)}`);
}

const clock: Rule<Clock> = (name) => (value) => {
  const checked = port<Clock>('monotonicMs', 'wallMs', 'sleep', 'schedule')(name)(value, undefined);
  const turn: unknown = Reflect.get(checked, 'turn');
  if (turn !== undefined) checkFunction(`${name}.turn`, turn);
  return checked;
};

/** What each port must be able to do. */
export const portRules = {
  clock: optional(clock),
  identity: optional(identity),
  processes: optional(port<ProcessTable>('sight')),
  files: optional(port<Files>('identity')),
  registry: optional(port<ClaimRegistry>('get', 'set', 'delete')),
  randomness: optional(port<Randomness>('claim', 'fraction')),
} satisfies RulesOf<Partial<Ports>>;
