import type { Incarnation } from './incarnation.js';
import type { Parked } from './parked.js';

/** One thing that may happen next. */
export type Choice =
  | { readonly kind: 'step' | 'lost-reply'; readonly id: string; readonly by: Incarnation; readonly parked: Parked }
  | {
      readonly kind: 'failure';
      readonly id: string;
      readonly by: Incarnation;
      readonly parked: Parked;
      readonly error: () => Error;
    }
  | { readonly kind: 'kill'; readonly id: string; readonly victim: Incarnation }
  | { readonly kind: 'restart'; readonly id: string; readonly victim: Incarnation; readonly samePid: boolean }
  | { readonly kind: 'jump' | 'database-jump' | 'advance' | 'time-passes'; readonly id: string; readonly toMs: number }
  | { readonly kind: 'disk-full' | 'disk-healed'; readonly id: string };

/** A choice of these kinds. */
export type ChoiceOf<Kind extends Choice['kind']> = Extract<Choice, { kind: Kind }>;
