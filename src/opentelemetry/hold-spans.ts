import { type Attributes, context, type Span, type Tracer, trace } from '@opentelemetry/api';
import type { JsonId, OwnershipEvent } from '../index.js';
import { EffectSpans, effectAttributes, endSpan } from './effect-spans.js';

/** A lease of this process, from its acquisition to its end. */
interface Hold {
  readonly fencingToken: number;
  readonly span: Span;
  /** Its effects that were started and of which nothing more was heard. */
  readonly effects: EffectSpans;
}

/** How many holds are followed at once: where an end is never reported, memory stays bounded. */
const MAX = 10_000;

const OUTCOME = 'transition_ownership.hold.outcome';
const REASON = 'transition_ownership.reason';

type About<T extends OwnershipEvent['type']> = Extract<OwnershipEvent, { readonly type: T }>;

/**
 * A span for each hold of a guarded lease, with what happened under it, and a child for each of its effects.
 *
 * An unguarded lease has none: no one reports when it ends. A task has one lease at a time, so its id finds the hold,
 * and the token shows whether an event is about that one.
 */
export class HoldSpans {
  readonly #tracer: Tracer;
  readonly #common: Attributes;
  readonly #holds = new Map<JsonId, Hold>();
  #closed = false;

  constructor(tracer: Tracer, common: Attributes) {
    this.#tracer = tracer;
    this.#common = common;
  }

  /** True while the hold of an event about a lease is open here. */
  follows(event: { readonly taskId: JsonId; readonly fencingToken: number | null }): boolean {
    return this.#of(event) !== undefined;
  }

  /** Every type of event either changes a span or is named among those that do not. */
  hear(event: OwnershipEvent): true {
    switch (event.type) {
      case 'lease.acquired':
        return this.#acquired(event);
      case 'lease.released':
        return this.#end(event, { [OUTCOME]: 'released' });
      case 'lease.release-failed':
        return this.#end(event, { [OUTCOME]: 'release-failed' });
      case 'lease.lost':
        return this.#end(event, { [OUTCOME]: 'lost', [REASON]: event.reason }, event.reason);
      case 'lease.reclaimed':
        return this.#end(event, { [OUTCOME]: 'reclaimed', [REASON]: event.reason }, event.reason);
      case 'stage.changed':
        return this.#note(event, {
          'transition_ownership.stage.from': event.from ?? undefined,
          'transition_ownership.stage.to': event.to ?? undefined,
        });
      case 'operator.acted':
        return this.#note(event, { 'transition_ownership.operator.action': event.action });
      case 'effect.started':
        return this.#effectStarted(event);
      case 'effect.applied':
        return this.#effectEnded(event, { 'transition_ownership.by': event.by });
      case 'effect.unknown':
      case 'effect.unrecorded':
        return this.#effectEnded(event, {}, event.message);
      // Too many for a span, which keeps few events.
      case 'lease.renewed':
      case 'lease.busy':
      case 'action.deferred':
      // Its reclaim has ended the span.
      case 'lease.forced':
      // Not about one hold.
      case 'would-refuse':
      case 'would-lose':
      case 'would-skip':
      case 'would-hold':
      case 'lease.renewal-failed':
      case 'stage.race-lost':
      case 'task.not-found':
      case 'job.claimed':
      case 'job.requeued':
      case 'job.reaped':
      case 'job.reap-failed':
      case 'queue.impossible-found':
      case 'queue.sanitized':
      case 'recovery.finished':
      case 'survey.found':
      case 'store.failed':
        return true;
    }
  }

  /** Ends every span, and begins no more. */
  close(): void {
    this.#closed = true;
    for (const taskId of [...this.#holds.keys()]) this.#endUnseen(taskId);
  }

  #of({ taskId, fencingToken }: { readonly taskId: JsonId; readonly fencingToken: number | null }): Hold | undefined {
    const hold = this.#holds.get(taskId);
    return hold?.fencingToken === fencingToken ? hold : undefined;
  }

  #acquired({ taskId, fencingToken, actor, provisional, stage, runId }: About<'lease.acquired'>): true {
    if (fencingToken === null || this.#closed) return true;
    this.#endUnseen(taskId);
    const [oldest] = this.#holds.keys();
    if (oldest !== undefined && this.#holds.size >= MAX) this.#endUnseen(oldest);
    const attributes = {
      ...this.#common,
      'transition_ownership.task.id': taskId,
      'transition_ownership.fencing_token': fencingToken,
      'transition_ownership.actor': actor,
      'transition_ownership.lease.provisional': provisional,
      ...(stage !== null && { 'transition_ownership.stage': stage }),
      ...(runId !== null && { 'transition_ownership.run.id': runId }),
    };
    const span = this.#tracer.startSpan('transition_ownership.hold', { attributes });
    this.#holds.set(taskId, { fencingToken, span, effects: new EffectSpans() });
    return true;
  }

  #end(
    about: About<'lease.released' | 'lease.release-failed' | 'lease.lost' | 'lease.reclaimed'>,
    attributes: Attributes,
    error?: string,
  ): true {
    const hold = this.#of(about);
    if (hold !== undefined) {
      this.#holds.delete(about.taskId);
      finish(hold, attributes, error);
    }
    return true;
  }

  /** The end of a hold was not reported: its transaction was rolled back, or its owner never came back. */
  #endUnseen(taskId: JsonId): void {
    const hold = this.#holds.get(taskId);
    if (hold === undefined) return;
    this.#holds.delete(taskId);
    finish(hold, { [OUTCOME]: 'unseen' });
  }

  #note(event: About<'stage.changed' | 'operator.acted'>, attributes: Attributes): true {
    this.#of(event)?.span.addEvent(event.type, attributes);
    return true;
  }

  #effectStarted(event: About<'effect.started'>): true {
    const hold = this.#of(event);
    hold?.effects.start(this.#tracer, trace.setSpan(context.active(), hold.span), event, this.#common);
    return true;
  }

  /** Ends the effect's own span; one that was emitted without a start in this hold is an event of the hold. */
  #effectEnded(
    event: About<'effect.applied' | 'effect.unknown' | 'effect.unrecorded'>,
    attributes: Attributes,
    error?: string,
  ): true {
    const outcome = { ...attributes, 'transition_ownership.effect.outcome': event.type.replace('effect.', '') };
    const isOwn = this.#of(event)?.effects.end(event, outcome, error) ?? false;
    if (!isOwn) this.#holds.get(event.taskId)?.span.addEvent(event.type, { ...attributes, ...effectAttributes(event) });
    return true;
  }
}

function finish({ span, effects }: Hold, attributes: Attributes, error?: string): void {
  effects.endAll();
  endSpan(span, attributes, error);
}
