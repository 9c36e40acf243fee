/**
 * Metrics and spans of the events.
 *
 * @module transition-ownership/opentelemetry
 */
export { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry } from './open-telemetry.js';
