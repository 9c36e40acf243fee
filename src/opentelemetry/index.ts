export { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry } from './open-telemetry.js';
