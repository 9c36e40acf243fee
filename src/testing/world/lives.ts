import { Incarnation } from './incarnation.js';
import { injected } from './injected.js';
import type { ProcessMain } from './process.js';
import type { Simulation } from './simulation.js';
import { ProcessThrew } from './trouble.js';
import { wire } from './wiring.js';

/** Starts, ends and restarts the processes of one schedule. */
export class Lives<DB> {
  /** The latest incarnation of each process, in the scenario's order. */
  readonly present: Incarnation[] = [];
  /** Processes that threw what no injected fault explains: the next check of the schedule reports it. */
  threw: ProcessThrew | undefined;
  private readonly world: Simulation<DB>;

  constructor(world: Simulation<DB>) {
    this.world = world;
  }

  /** Gets every process ready; each starts when its first point is taken. */
  async begin(): Promise<void> {
    for (const [index, [name, main]] of Object.entries(this.world.scenario.processes).entries()) {
      const pid = (index + 1) * 100 + 1;
      const self = new Incarnation({ name, index, incarnation: 1, pid, firstPoint: 0 }, this.world.interner);
      this.present.push(self);
      await this.connect(self, main, true);
    }
    await turn();
  }

  /** Brings a dead process back, with nothing in memory. */
  async restart(dead: Incarnation, samePid: boolean, main?: ProcessMain<DB>): Promise<Incarnation> {
    const incarnation = dead.incarnation + 1;
    const pid = samePid ? dead.pid : (dead.index + 1) * 100 + incarnation;
    const { name, index, nextPoint } = dead;
    const self = new Incarnation({ name, index, incarnation, pid, firstPoint: nextPoint }, this.world.interner);
    this.present[index] = self;
    const runs = main ?? this.world.scenario.processes[name];
    if (runs !== undefined) await this.connect(self, runs, false);
    return self;
  }

  /** Ends a process as the operating system would. */
  async kill(victim: Incarnation): Promise<void> {
    victim.end('killed');
    await victim.connection?.kill();
  }

  /** Ends the schedule: whoever is alive is gone. */
  async end(): Promise<void> {
    for (const each of this.present) if (each.alive) await this.kill(each);
  }

  private async connect(self: Incarnation, main: ProcessMain<DB>, waits: boolean): Promise<void> {
    const { world } = this;
    const connecting = world.store.connect();
    const connection = connecting instanceof Promise ? await connecting : connecting;
    self.connection = connection;
    const process = wire(world, self, connection);
    const started = waits ? self.park('start', 'start', {}) : Promise.resolve();
    started
      .then(() => main(process))
      .then(
        (result) => self.park('exit', 'exit', {}).then(() => this.ended(self, 'ended', result)),
        (error: unknown) => this.ended(self, 'failed', error),
      );
  }

  private ended(self: Incarnation, state: 'ended' | 'failed', outcome: unknown): void {
    if (!self.alive) return;
    self.end(state);
    this.world.footprint.lives = true;
    if (self.connection?.inTransaction() === true) this.world.footprint.sql = 'write';
    void self.connection?.kill();
    if (state === 'ended') self.result = outcome;
    else {
      self.error = outcome;
      const may = injected.explains(outcome) || this.world.scenario.mayThrow?.(outcome) === true;
      if (!may) this.threw ??= new ProcessThrew(self.name, outcome);
    }
  }
}

/** Lets every promise that can go on go on: an immediate runs when no microtask is left. */
export const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
