import { Kysely } from 'kysely';
import type { ProcessTable, Randomness } from '../../index.js';
import type { Ports } from '../../port/ports.js';
import { gatedDialect } from '../store/gated-dialect.js';
import type { TestConnection } from '../store/store.js';
import { type Incarnation, never } from './incarnation.js';
import type { Ported, Process, ProcessClock } from './process.js';
import { ownershipMaker } from './simulated-ownership.js';
import type { WorldState } from './state.js';

/** The host that all simulated processes run on. */
export const simulatedHost = 'simulated-host';

/** The start mark of an incarnation: a reused pid has another. */
export const startMark = (name: string, incarnation: number) => `start-${name}-${incarnation}`;

/** What the code of one incarnation is given. */
export function wire<DB>(state: WorldState<DB>, self: Incarnation, connection: TestConnection): Process<DB> {
  const gate = {
    statement: <T>(label: string, params: readonly unknown[], run: () => Promise<T>) =>
      self.park<T>('sql', label, { params, run }),
  };
  const db = new Kysely<DB>({ dialect: gatedDialect(connection.dialect, gate) });
  const clock = virtualClock(state, self);
  const randomness = seededBy(self);
  const process: Process<DB> = {
    db,
    name: self.name,
    pid: self.pid,
    bootId: self.bootId,
    incarnation: self.incarnation,
    clock,
    ports: portsOf(state, self, { clock, randomness }),
    createOwnership: (options) => ownershipMaker(state, self, process)(options),
    random: () => randomness.fraction(),
    effect: (label, run) => self.park('effect', label, { run }),
    port: (label, client) =>
      portTo(client, (method, params, run) => self.park('effect', `${label}.${method}`, { params, run })),
    work: (label = 'work') => self.park('work', label, {}),
    ghost(fact) {
      if (!self.alive) return;
      state.note({ process: self.name, incarnation: self.incarnation, pid: self.pid, atMs: state.nowMs, ...fact });
    },
    async op(input, run) {
      const operation = state.operations.begin(`${self.name}.${self.incarnation}`, input);
      self.operations.add(operation);
      try {
        const output = await run();
        if (!self.alive) return await never;
        state.operations.settle(operation, output, state.steps);
        return output;
      } finally {
        self.operations.delete(operation);
      }
    },
  };
  return process;
}

function virtualClock<DB>(state: WorldState<DB>, self: Incarnation): ProcessClock {
  const skewMs = state.scenario.faults?.skewMs?.[self.name] ?? 0;
  const read = (offsetMs: number) => {
    self.seeReading(`@${state.nowMs}`);
    return state.nowMs + offsetMs;
  };
  return {
    now: () => read(skewMs),
    wallMs: () => read(skewMs),
    monotonicMs: () => read(0),
    sleep: (ms) => self.park('sleep', `sleep ${ms} ms`, { wakeMs: state.nowMs + ms }),
    schedule(ms, call, { background = false } = {}) {
      const id = self.nextPoint;
      // No one awaits a callback, and an error of one ends the process: as Node does it.
      const run = () => {
        const callback: () => unknown = call;
        const running = callback();
        if (running instanceof Promise) running.catch(self.die);
      };
      const due = { wakeMs: state.nowMs + ms, background, run };
      self.park('timer', `timer after ${ms} ms`, due).catch(self.die);
      return { cancel: () => self.unpark(id) };
    },
  };
}

/** Chance that is a function of what the process has done so far, and so the same in every run of one schedule. */
function seededBy(self: Incarnation): Randomness {
  let drawn = 0;
  return {
    claim: () => `claim-${self.name}-${self.incarnation}-${++drawn}`,
    fraction() {
      // A Weyl sequence: well spread, and nothing to carry but a counter.
      drawn++;
      return ((self.index * 31 + self.incarnation * 7 + drawn) * 0.618_033_988_749_895) % 1;
    },
  };
}

function portsOf<DB>(
  state: WorldState<DB>,
  self: Incarnation,
  { clock, randomness }: { readonly clock: ProcessClock; readonly randomness: Randomness },
): Ports {
  const processes: ProcessTable = {
    sight(pid) {
      const found = state.processes.find((each) => each.alive && each.pid === pid);
      const start = found === undefined ? null : startMark(found.name, found.incarnation);
      state.footprint.sight = true;
      self.seeReading(`pid ${pid} ${start ?? 'gone'}`);
      return { state: found === undefined ? 'gone' : 'exists', start };
    },
  };
  const start = startMark(self.name, self.incarnation);
  const identity = Object.freeze({ bootId: self.bootId, pid: self.pid, start, host: simulatedHost });
  const files = { identity: () => null };
  return Object.freeze({ clock, identity, processes, files, registry: self.registry, randomness });
}

/** Every method of the client becomes a step; what is no method is passed through. */
function portTo<T extends object>(
  client: T,
  step: (method: string, params: readonly unknown[], run: () => unknown) => Promise<unknown>,
): Ported<T> {
  return new Proxy(client, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      const call = value as (...params: unknown[]) => unknown;
      return (...params: unknown[]) => step(String(member), params, () => call.apply(target, params));
    },
  }) as Ported<T>;
}
