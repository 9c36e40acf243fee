import type { ClaimEntry } from '../port/claim-registry.js';
import { type LeaseEvent, type LeaseState, nextState } from './lease-state.js';

/** The three steps that other copies of this package know, for each state. */
const PHASES: Readonly<Record<LeaseState, ClaimEntry['phase']>> = {
  acquiring: 'acquiring',
  held: 'held',
  releasing: 'releasing',
  uncommitted: 'releasing',
  unsettled: 'releasing',
  released: 'releasing',
  lost: 'held',
};

/** The state of one lease, and its entry in the claim registry, which follows it. */
export class LeaseLife {
  #state: LeaseState = 'acquiring';
  readonly #entry: { -readonly [K in keyof ClaimEntry]: ClaimEntry[K] };

  /** `provisional`: the row is written in the caller's transaction. */
  constructor({ provisional }: Pick<ClaimEntry, 'provisional'>) {
    this.#entry = { phase: PHASES.acquiring, provisional };
  }

  get state(): LeaseState {
    return this.#state;
  }

  /** What the registry is given. */
  get entry(): ClaimEntry {
    return this.#entry;
  }

  /** True until the transaction that wrote the row is seen committed. */
  get provisional(): boolean {
    return this.#entry.provisional;
  }

  /** Moves the state as the table says; returns the new one. */
  step(event: LeaseEvent): LeaseState {
    this.#state = nextState(this.#state, event);
    this.#entry.phase = PHASES[this.#state];
    return this.#state;
  }

  /** The row was seen over the root handle. */
  committed(): void {
    this.#entry.provisional = false;
  }
}
