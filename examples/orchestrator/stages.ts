import { defineStages } from 'transition-ownership';
import type { Stage } from './database.js';

/** The legal moves; the library refuses all others, and the compiler most of them. */
export const transitions = defineStages({
  'deploy-staging': ['deploy'],
  deploy: ['done'],
  done: [],
});

/** The gates between a stage and the next: irreversible steps, in their order. */
export const gates: Readonly<Record<Stage, readonly string[]>> = {
  'deploy-staging': ['merge_pr', 'ratchet_coverage'],
  deploy: ['rebuild_image', 'deploy_production'],
  done: [],
};
