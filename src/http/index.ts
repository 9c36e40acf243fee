export { createHttpHandler } from './create-http-handler.js';
export type { Authorization, HttpAction, HttpHandler, HttpOptions, HttpPeer } from './http-options.js';
export { toNodeListener } from './node-listener.js';
export { toPrometheus } from './prometheus.js';
