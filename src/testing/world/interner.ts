/**
 * Gives equal texts equal small numbers, exactly.
 *
 * A process's local state is a function of the answers that it has seen, so a chain of numbered answers stands for it:
 * shorter than any hash, and never a collision.
 */
export class Interner {
  private readonly numbers = new Map<string, number>();

  /** The number of a text. */
  id(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const number = this.numbers.size + 1;
    this.numbers.set(text, number);
    return number;
  }

  /** The number of a chain with one more link. */
  link(chain: number, text: string): number {
    return this.id(`${chain}>${text}`);
  }
}

/** Any value as text, for comparing and for showing: bigints, dates and errors included. */
export function asText(value: unknown): string {
  if (value instanceof Error) return `! ${errorCode(value)}${value.message}`;
  return JSON.stringify(value, plain) ?? 'undefined';
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}n`;
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`;
  if (value instanceof Error) return asText(value);
  if (value instanceof Map || value instanceof Set) return [...value];
  return value;
}

function errorCode(error: Error): string {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && !error.message.includes(code) ? `${code} ` : '';
}
