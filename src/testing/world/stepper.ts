import { Delivery } from './delivery.js';
import { injected } from './injected.js';
import { asText } from './interner.js';
import { turn } from './lives.js';
import { after, outcomeOf } from './outcome.js';
import type { Choice, Parked } from './parked.js';
import { awaitQuiet } from './quiet.js';
import type { Simulation } from './simulation.js';
import type { Step } from './trace.js';

type Taken<Kind extends Choice['kind']> = Extract<Choice, { kind: Kind }>;

/** Real time within which a server must have noticed a deadlock. */
const deadlockLimitMs = 3_000;

/** Carries out one choice: runs the statement, delivers or withholds its answer, kills, restarts, moves the clock. */
export class Stepper<DB> {
  private readonly world: Simulation<DB>;
  private readonly delivery: Delivery<DB>;

  constructor(world: Simulation<DB>) {
    this.world = world;
    this.delivery = new Delivery(world);
  }

  /** Lets one thing happen, and all that follows from it without a further choice. */
  async take(choice: Choice): Promise<Step> {
    const step = await this.carryOut(choice);
    await awaitQuiet(this.world);
    step.nowMs = this.world.nowMs;
    return step;
  }

  /** Waits until the server lets one of the statements go that wait for locks; answers what came of it. */
  async letServerDecide(): Promise<Step[]> {
    const waiting = this.world.processes.flatMap((each) => each.inFlight.map(({ outcome }) => outcome));
    const victim = this.world.processes.find(
      (each) => each.inFlight.length > 0 && each.connection?.refuse !== undefined,
    );
    if (victim === undefined) await Promise.race([...waiting, after(deadlockLimitMs)]);
    else await this.delivery.refuse(victim);
    await this.delivery.collectFreed();
    await awaitQuiet(this.world);
    return this.world.late.splice(0);
  }

  private carryOut(choice: Choice): Promise<Step> {
    switch (choice.kind) {
      case 'step':
      case 'lost-reply':
        return this.goOn(choice);
      case 'failure':
        return this.fail(choice);
      case 'kill':
        return this.kill(choice);
      case 'restart':
        return this.restart(choice);
      case 'jump':
      case 'database-jump':
      case 'advance':
        return this.moveClock(choice);
      case 'disk-full':
      case 'disk-healed':
        return this.switchDisk(choice);
    }
  }

  private async goOn(choice: Taken<'step' | 'lost-reply'>): Promise<Step> {
    const { world } = this;
    const { parked } = choice;
    const { by } = parked;
    const step = this.delivery.stepOf(choice.kind, by, parked);
    by.unpark(parked.id);
    world.last = by.index;
    for (const operation of by.operations) {
      world.footprint.operation = true;
      world.operations.touch(operation, world.steps);
    }
    if (parked.kind === 'timer') this.delivery.spend('timers');
    if (parked.kind === 'sql') return this.delivery.statement(choice, step);
    if (parked.kind === 'effect') world.footprint.effect = true;
    const outcome = await outcomeOf(parked, () => by.pending.length > 0);
    await this.delivery.deliver(parked, outcome, choice.kind === 'lost-reply', step);
    if (parked.kind === 'effect') this.countEffect(parked, outcome.ok, step);
    return step;
  }

  private countEffect(parked: Parked, tookPlace: boolean, step: Step): void {
    const { world } = this;
    const what = `${parked.by.index}${parked.label}${asText(parked.params)}${step.answer}`;
    world.effectsKey = world.interner.link(world.effectsKey, what);
    if (tookPlace) world.effects.set(parked.label, (world.effects.get(parked.label) ?? 0) + 1);
  }

  private async fail(choice: Taken<'failure'>): Promise<Step> {
    const { parked, error } = choice;
    const step = this.delivery.stepOf(choice.kind, parked.by, parked);
    parked.by.unpark(parked.id);
    this.world.last = parked.by.index;
    this.delivery.spend('failures');
    await this.delivery.deliver(parked, { ok: false, error: injected.add(error()) }, false, step);
    return step;
  }

  private async kill(choice: Taken<'kill'>): Promise<Step> {
    const { world } = this;
    const { victim } = choice;
    const before = [...victim.pending, ...victim.inFlight.map((each) => each.parked)];
    const step = this.delivery.stepOf(choice.kind, victim, {
      label: before.map((each) => each.label).join(' | '),
      kind: 'kill',
      params: [],
    });
    this.delivery.spend('crashes');
    world.footprint.lives = true;
    if (victim.connection?.inTransaction() === true || victim.inFlight.length > 0) world.footprint.sql = 'write';
    await world.lives.kill(victim);
    victim.view = '';
    world.version++;
    world.tablesMayDiffer();
    await this.delivery.collectFreed();
    return step;
  }

  private async restart(choice: Taken<'restart'>): Promise<Step> {
    const { world } = this;
    this.delivery.spend('restarts');
    world.footprint.lives = true;
    const born = await world.lives.restart(choice.victim, choice.samePid);
    world.last = born.index;
    const label = choice.samePid ? `with the same pid ${born.pid}` : `as pid ${born.pid}`;
    const step = this.delivery.stepOf(choice.kind, born, { label, kind: 'restart', params: [] });
    await turn();
    return step;
  }

  private async moveClock(choice: Taken<'jump' | 'database-jump' | 'advance'>): Promise<Step> {
    const { world } = this;
    if (choice.kind === 'jump') this.delivery.spend('clockJumps');
    world.footprint.everything = true;
    const label = `${choice.toMs - world.nowMs} ms`;
    if (choice.kind === 'database-jump') {
      this.delivery.spend('databaseClockJumps');
      world.databaseAheadMs += choice.toMs - world.nowMs;
    } else world.nowMs = choice.toMs;
    world.version++;
    await world.store.setNow(world.nowMs + world.databaseAheadMs);
    return this.delivery.stepOf(choice.kind, undefined, { label, kind: 'clock', params: [] });
  }

  private async switchDisk(choice: Taken<'disk-full' | 'disk-healed'>): Promise<Step> {
    const { world } = this;
    world.diskIsFull = choice.kind === 'disk-full';
    if (world.diskIsFull) this.delivery.spend('diskFull');
    world.footprint.everything = true;
    world.version++;
    return this.delivery.stepOf(choice.kind, undefined, { label: '', kind: 'disk', params: [] });
  }
}
