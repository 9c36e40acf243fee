import type { StoreFailureKind } from '../core/failure.js';
import type { Classified } from './dialect.js';

/** The statement certainly did nothing. */
export function notApplied(kind: StoreFailureKind, retryable: boolean): Classified {
  return Object.freeze({ kind, retryable, outcome: 'not-applied' });
}

/** The statement may have been applied. */
export function unknownOutcome(kind: StoreFailureKind, retryable: boolean): Classified {
  return Object.freeze({ kind, retryable, outcome: 'unknown' });
}

/** What a code or a message means. */
export type Rule = readonly [pattern: RegExp, means: Classified];

/** What a driver says of its errors, by code and, where there is none, by its words. */
export interface Rules {
  readonly codes: readonly Rule[];
  readonly messages: readonly Rule[];
  /** The code of an error, where the driver's own says nothing or another server's name. Default: its `code`. */
  readonly codeOf?: (error: object) => string | undefined;
}

/** What every driver over a socket, and Kysely itself, may say; a driver's own rules come first. */
const COMMON: Pick<Rules, 'codes' | 'messages'> = {
  codes: [
    // ENOENT: the socket of a server that is down.
    [/^(ECONNREFUSED|ENOENT|ENOTFOUND|EAI_AGAIN)$/, notApplied('connection', true)],
    [
      /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTCONN|EHOSTUNREACH|ENETUNREACH)$/,
      unknownOutcome('connection', true),
    ],
  ],
  messages: [
    [/driver has already been destroyed/, notApplied('connection', false)],
    [
      /Transaction (is already (committed|rolled back)|was rolled back instead of committed)/,
      notApplied('other', false),
    ],
  ],
};

const UNHEARD_OF = unknownOutcome('other', false);

/** Makes the classifier of a driver: an error that no rule knows may have been thrown after the statement ran. */
export function classifier({ codes, messages, codeOf = ownCode }: Rules): (error: unknown) => Classified {
  const byCode = [...codes, ...COMMON.codes];
  const byMessage = [...messages, ...COMMON.messages];
  return (error) => {
    const code = typeof error === 'object' && error !== null ? (codeOf(error) ?? '') : '';
    const message = error instanceof Error ? error.message : String(error);
    const rule = byCode.find(([pattern]) => pattern.test(code)) ?? byMessage.find(([pattern]) => pattern.test(message));
    return rule?.[1] ?? UNHEARD_OF;
  };
}

/** The code as the driver gives it. */
export function ownCode(error: object): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
