import type { Lease } from '../core/lease.js';
import type { Shape } from '../shape.js';

/** A lease with the types of an ownership. */
export type LeaseOf<S extends Shape> = Lease<S['taskId'], S['stage'], S['runId']>;
