import type { Failure } from '../index.js';

/** On every answer: nothing of it is kept, framed, guessed at or handed to another site. */
const HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
} as const;

/** A text, or a stream, of some type. */
export function reply(status: number, type: string, body: Content, headers: Headers = {}): Response {
  return new Response(body, { status, headers: { ...HEADERS, ...headers, 'content-type': type } });
}

type Content = string | ReadableStream<Uint8Array>;
type Headers = Readonly<Record<string, string>>;

/** A value as JSON; ids that JSON has no numbers for are text. */
export function json(status: number, value: object, headers?: Headers): Response {
  return reply(status, 'application/json', JSON.stringify(value, plainValue), headers);
}

/** What was not done, and why. */
export function refusal(status: number, type: string, message: string, more: object = {}, headers?: Headers): Response {
  return json(status, { type, message, ...more }, headers);
}

/** Ids that JSON has no numbers for are text. */
export function plainValue(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

const STATUSES: Partial<Readonly<Record<Failure['type'], number>>> = {
  'invalid-id': 400,
  'task-not-found': 404,
  'store-failure': 503,
};

/** A failure of the library: by value, without what only a program could use against it. */
export function failed(failure: Failure): Response {
  const { type, message } = failure;
  const holder = type === 'token-mismatch' ? { holder: withoutClaim(failure.holder) } : {};
  const store = type === 'store-failure' ? { retryable: failure.retryable, outcome: failure.outcome } : {};
  return refusal(STATUSES[type] ?? 409, type, message, { ...holder, ...store });
}

/** The claim is what a fence goes by: nobody outside needs it. */
export function withoutClaim<T extends { readonly claim: string }>({ claim: _, ...rest }: T): Omit<T, 'claim'> {
  return rest;
}
