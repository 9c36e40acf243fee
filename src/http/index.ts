/**
 * Who owns which transition as a page, as JSON and for Prometheus, and the orders of operators: a Fetch handler to mount
 * in your own server.
 *
 * @module transition-ownership/http
 */
export { createHttpHandler } from './create-http-handler.js';
export type { Authorization, HttpAction, HttpHandler, HttpOptions, HttpPeer } from './http-options.js';
export { toNodeListener } from './node-listener.js';
export { toPrometheus } from './prometheus.js';
