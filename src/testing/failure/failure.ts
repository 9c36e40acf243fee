import { againLine } from '../search/again.js';
import { tokenOf } from '../search/token.js';
import type { TestStore } from '../store/store.js';
import { demanded, type FaultKind, faultKinds } from '../world/faults.js';
import type { Scenario } from '../world/scenario.js';
import type { Simulation } from '../world/simulation.js';
import { lineOf } from '../world/trace.js';
import { htmlDiagram } from './html-diagram.js';
import { printable } from './printable.js';
import { type Story, storyOf } from './story.js';
import { textDiagram } from './text-diagram.js';

/** What a failure is made of. */
export interface FailureParts<DB> {
  readonly store: TestStore<DB>;
  readonly scenario: Scenario<DB>;
  readonly error: Error;
  readonly world: Pick<Simulation<DB>, 'taken' | 'moves' | 'state'>;
}

/**
 * A counterexample: a schedule in which something went wrong, shrunk to few steps.
 *
 * It is an `Error`, so a test may throw it as it stands: the message has the broken rule, a text space-time diagram
 * and the line that replays it.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** The rule that was broken, or the trouble that was met, with its detail. */
  readonly violated: string;
  /** What happened, one line a step. */
  readonly trace: readonly string[];
  /** The schedule as one word: `replay(store, scenario, token)` runs it again. Empty if no schedule is to blame. */
  readonly token: string;
  /** What was thrown. */
  readonly error: Error;
  /**
   * The picture as one self-contained page: lanes, statements and what they did to the rows, crashes, the violation in
   * red. Open it in any browser; it loads nothing.
   */
  readonly html: () => string;

  private constructor(error: Error, story: Story, trace: readonly string[]) {
    super(printable(textDiagram(story)), { cause: error });
    this.violated = printable(story.violated);
    this.trace = trace.map(printable);
    this.token = story.token;
    this.error = error;
    this.html = () => htmlDiagram(story);
    // A runner that prints what an error carries would bury the picture.
    for (const name of ['trace', 'error', 'html'] as const) Object.defineProperty(this, name, { enumerable: false });
  }

  /** @internal Draws the failure of one schedule. */
  static of<DB>(parts: FailureParts<DB>): Failure {
    const { store, scenario, error, world } = parts;
    const { log } = world.state;
    const token = tokenOf(scenario, world);
    const story = storyOf({
      violated: error.message,
      token,
      again: againLine(scenario, token),
      store: store.name,
      log,
    });
    return new Failure(error, story, log.map(lineOf));
  }

  /** @internal A failure of the scenario as a whole, with no schedule to show. */
  static ofScenario(error: Error): Failure {
    return new Failure(error, storyOf({ violated: error.message, token: '', again: '', store: '', log: [] }), []);
  }
}

/** A scenario with a fault that no schedule met did not test what it says. */
export function vacuity<DB>(scenario: Scenario<DB>, met: Readonly<Record<FaultKind, number>>): Failure | undefined {
  const missed = faultKinds.filter((kind) => demanded(scenario.faults ?? {}, kind) && met[kind] === 0);
  if (missed.length === 0) return undefined;
  return Failure.ofScenario(
    new Error(
      `vacuous: no schedule met any of ${missed.join(', ')}, though the scenario has a budget for it. ` +
        'Give the processes something that it can befall, or take it out of `faults`.',
    ),
  );
}
