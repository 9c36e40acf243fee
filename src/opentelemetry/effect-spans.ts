import { type Attributes, type Context, type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { EffectFacts } from '../index.js';
import { quietly } from './quietly.js';

/** How many effects of one hold are followed at once: where an end is never reported, memory stays bounded. */
const MAX = 100;

/** The spans of the effects of one hold, from their start to the word on their outcome. */
export class EffectSpans {
  readonly #open = new Map<string, Span>();

  start(tracer: Tracer, parent: Context, facts: EffectFacts, common: Attributes): void {
    // Of an effect that is started again the first start was taken back: it did nothing.
    this.end(facts);
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= MAX) this.#end(oldest);
    const attributes = { ...common, 'transition_ownership.task.id': facts.taskId, ...effectAttributes(facts) };
    this.#open.set(keyOf(facts), tracer.startSpan('transition_ownership.effect', { attributes }, parent));
  }

  /** False if no such effect is open. */
  end(facts: EffectFacts, attributes: Attributes = {}, error?: string): boolean {
    return this.#end(keyOf(facts), attributes, error);
  }

  /** Ends what is open: nothing more will be heard. */
  endAll(): void {
    for (const key of [...this.#open.keys()]) this.#end(key);
  }

  #end(key: string, attributes: Attributes = {}, error?: string): boolean {
    const span = this.#open.get(key);
    if (span === undefined) return false;
    this.#open.delete(key);
    endSpan(span, attributes, error);
    return true;
  }
}

/** Which effect it is. */
export function effectAttributes({ effect, key }: EffectFacts): Attributes {
  return { 'transition_ownership.effect.name': effect, 'transition_ownership.effect.key': key };
}

/** Ends a span, as one that failed if there is an error to report. */
export function endSpan(span: Span, attributes: Attributes, error: string | undefined): void {
  quietly(() => {
    span.setAttributes(attributes);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end();
  });
}

const keyOf = ({ effect, key }: EffectFacts): string => JSON.stringify([effect, key]);
