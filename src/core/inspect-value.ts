/** A value as a message shows it: short, unambiguous, and never the reason of a second error. */
export function inspectValue(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return kindOf(value);
  return String(value);
}

/** What kind of object it is. A proxy that was revoked throws even at this question. */
function kindOf(value: object): string {
  try {
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (kind === 'Array') return 'an array';
    return kind === 'Object' || kind.length > 40 ? 'an object' : `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
  } catch {
    return 'an object';
  }
}

/** How many characters a text has, as databases count them. */
export function characters(text: string): number {
  return Array.from(text).length;
}
