import { inspectValue } from './inspect-value.js';

/** One line of whatever was thrown: an error, a failure, anything; never the reason of a second error. */
export function reasonOf(cause: unknown): string {
  try {
    if (typeof cause !== 'object' || cause === null || !('message' in cause)) return inspectValue(cause);
    // An error that gathers others, as of a refused connection, may have a code and no message.
    const { message, code, name } = cause as Readonly<Record<'message' | 'code' | 'name', unknown>>;
    const told = [message, code, name].find((part) => typeof part === 'string' && part.trim() !== '');
    return typeof told === 'string' ? told.trim().replace(/\s*[\r\n]\s*/g, ' ') : inspectValue(cause);
  } catch {
    return 'something that cannot be read';
  }
}

/** The same as the end of a sentence. */
export function sentence(cause: unknown): string {
  return ended(reasonOf(cause));
}

/** Text as the end of a sentence. */
export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
