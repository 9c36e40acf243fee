/** A value as a message shows it: short, unambiguous, and never the reason of a second error. */
export function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** A proxy that was revoked throws even at this question. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
