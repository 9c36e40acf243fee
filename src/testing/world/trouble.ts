import type { Incarnation } from './incarnation.js';

/** A schedule that cannot go on, though no rule of the scenario is broken yet. */
export class Trouble extends Error {
  override readonly name: string = 'Trouble';
}

const passedLast = (label: string) =>
  label === '' ? '' : `The last point that it passed: ${label.replace(/\s+/g, ' ').slice(0, 200)}. `;

/** A process awaits something that the world does not control. */
export class OutsideAwait extends Trouble {
  override readonly name = 'OutsideAwait';

  constructor({ name, passed }: Pick<Incarnation, 'name' | 'passed'>) {
    super(
      `await outside the world: process ${name} awaits something that is neither a statement, nor an effect, nor ` +
        `virtual time, so no schedule can decide when it goes on. ${passedLast(passed)}Wrap it in \`effect\`/\`port\`; ` +
        'wait with `clock.sleep`.',
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

/** A process had not ended when the scenario's timers were spent, and something is demanded of the end. */
export class NeverSettles extends Trouble {
  override readonly name = 'NeverSettles';

  constructor(waiting: readonly Incarnation[]) {
    const who = waiting.map(({ name, passed }) => `process ${name} does not end. ${passedLast(passed)}`).join('');
    super(`${who}It waits for timers, and those of the schedule are spent: let it end, or raise \`faults.timers\`.`);
  }
}

/** A process went on differently though it had been reported the same. */
export class OutlivingState extends Trouble {
  override readonly name = 'OutlivingState';

  constructor(process: string, { now, before }: { readonly now: string; readonly before: string }) {
    super(
      `state outlives a life: process ${process} had seen exactly what it saw in another schedule, and goes on with ` +
        `«${now || 'nothing'}» instead of «${before || 'nothing'}». Something is in memory that another process, an earlier life ` +
        'or an earlier schedule left there (a module variable, a closure that processes share), or it reads a clock ' +
        'or chance of its own. Make it anew for each start: `perStart(() => …)`, `machine: () => ({ … })`, or name the file of the process.',
    );
  }
}
