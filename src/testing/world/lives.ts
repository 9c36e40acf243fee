import { Incarnation } from './incarnation.js';
import { injected } from './injected.js';
import { mainOf, type ProcessSource } from './load-main.js';
import { inTime } from './reply-limit.js';
import type { WorldState } from './state.js';
import { ProcessThrew } from './trouble.js';
import { turn } from './turn.js';
import { wire } from './wiring.js';

/** Starts, ends and restarts the processes of one schedule. */
export class Lives<DB> {
  private readonly state: WorldState<DB>;

  constructor(state: WorldState<DB>) {
    this.state = state;
  }

  /** Gets every process ready; each starts when its first point is taken. */
  async begin(): Promise<void> {
    for (const [index, [name, main]] of Object.entries(this.state.scenario.processes).entries()) {
      const pid = (index + 1) * 100 + 1;
      const self = new Incarnation({ name, index, incarnation: 1, pid, firstPoint: 0 }, this.state.interner);
      this.state.processes.push(self);
      await this.connect(self, main, true);
    }
    await turn();
  }

  /** Brings a dead process back, with nothing in memory. */
  async restart(dead: Incarnation, samePid: boolean, main?: ProcessSource<DB>): Promise<Incarnation> {
    const incarnation = dead.incarnation + 1;
    const pid = samePid ? dead.pid : (dead.index + 1) * 100 + incarnation;
    const { name, index, nextPoint } = dead;
    const self = new Incarnation({ name, index, incarnation, pid, firstPoint: nextPoint }, this.state.interner);
    this.state.processes[index] = self;
    const runs = main ?? this.state.scenario.processes[name];
    if (runs !== undefined) await this.connect(self, runs, false);
    return self;
  }

  /** Ends a process as the operating system would. */
  async kill(victim: Incarnation): Promise<void> {
    victim.end('killed');
    await inTime(victim.connection?.kill(), `the end of a connection of process ${victim.name}`);
  }

  /** Ends the schedule: whoever is alive is gone. */
  async end(): Promise<void> {
    for (const each of this.state.processes) if (each.alive) await this.kill(each);
  }

  private async connect(self: Incarnation, source: ProcessSource<DB>, waits: boolean): Promise<void> {
    const connecting = inTime(this.state.store.connect(), `a connection for process ${self.name}`);
    const connection = connecting instanceof Promise ? await connecting : connecting;
    self.connection = connection;
    const made = mainOf(source);
    const main = typeof made === 'function' ? made : await made;
    self.die = (error) => this.ended(self, 'failed', error);
    const process = wire(this.state, self, connection);
    const started = waits ? self.park('start', 'start', {}) : Promise.resolve();
    started
      .then(() => main(process))
      .then((result) => self.park('exit', 'exit', {}).then(() => this.ended(self, 'ended', result)), self.die);
  }

  private ended(self: Incarnation, ending: 'ended' | 'failed', outcome: unknown): void {
    if (!self.alive) return;
    const { state } = this;
    self.end(ending);
    state.footprint.lives = true;
    if (self.connection?.inTransaction() === true) state.footprint.sql = 'write';
    void self.connection?.kill();
    if (ending === 'ended') self.result = outcome;
    else {
      self.error = outcome;
      const may = injected.explains(outcome) || state.scenario.mayThrow?.(outcome) === true;
      if (!may) state.threw ??= new ProcessThrew(self.name, outcome);
    }
  }
}
