import type { Result } from 'neverthrow';
import type { StoreFailure } from 'transition-ownership';

/** Why a command cannot be done, in one sentence; the program ends with 2. */
export class Failed extends Error {}

/** A command line that says nothing, or two things; the help is pointed at. */
export class Misused extends Failed {}

/** Tables that are not there, or not as the options describe them. */
export class Misshapen extends Failed {}

/** What a verb returned; throws {@link Failed} with what was wanted, and the words of the database. */
export function neverReject<T>(result: Result<T, StoreFailure>, wanted: string): T {
  if (result.isOk()) return result.value;
  const { message, kind, outcome } = result.error;
  const said = outcome === 'unknown' ? message : message.slice(message.indexOf(': ') + 2);
  if (kind === 'schema') throw new Misshapen(`${wanted}: ${said} ${TABLES}`);
  throw new Failed(`${wanted}: ${said}`);
}

const TABLES =
  'ensureSchema makes the tables of the library and brings them up to date; other names and types come from --config.';
