import type { Incarnation } from './incarnation.js';

/** A schedule that cannot go on, though no rule of the scenario is broken yet. */
export class Trouble extends Error {
  override readonly name: string = 'Trouble';
}

/** A process awaits something that the world does not control. */
export class OutsideAwait extends Trouble {
  override readonly name = 'OutsideAwait';

  constructor(process: string) {
    super(
      `await outside the world: process ${process} awaits something that is neither a statement, nor an effect, nor ` +
        'virtual time, so no schedule can decide when it goes on. Wrap it in `effect`/`port`; wait with `clock.sleep`.',
    );
  }
}

/** An effect that does not end. */
export class EndlessEffect extends Trouble {
  override readonly name = 'EndlessEffect';

  constructor(process: string, label: string, nested: boolean) {
    super(
      `effect "${label}" of process ${process} does not end` +
        (nested ? ': it awaits a statement or another effect. An effect is one step: take those out of it.' : '.'),
    );
  }
}

/** A process waits for what never comes. */
export class Stuck extends Trouble {
  override readonly name = 'Stuck';

  constructor(waiting: readonly Incarnation[]) {
    const what = waiting.map((each) => {
      const points = [...each.pending, ...each.inFlight.map(({ parked }) => parked)];
      return `${each.name} at ${points.map((point) => point.label).join(' and ') || 'nothing that the world controls'}`;
    });
    super(`stuck: nothing can happen any more, and these still wait: ${what.join('; ')}`);
  }
}

/** A schedule that goes on and on. */
export class TooLong extends Trouble {
  override readonly name = 'TooLong';

  constructor(maxSteps: number) {
    super(`no end after ${maxSteps} steps: a livelock, or a schedule that needs a larger maxSteps`);
  }
}

/** A process ended by throwing something that no injected fault explains. */
export class ProcessThrew extends Trouble {
  override readonly name = 'ProcessThrew';

  constructor(process: string, cause: unknown) {
    super(`process ${process} threw: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
