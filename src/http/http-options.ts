import { by, callable, list, optional, type Rule, type RulesOf, requestOf } from '../core/request.js';

/** What somebody wants: to look, or to give one of the orders. */
export type HttpAction = 'read' | 'release' | 'resolve' | 'abandon';

/**
 * What becomes of a request: it is refused or served; an order is carried out in the name of `by`, whatever name the
 * request gives; or your own response is sent instead, one that asks for a login say.
 */
export type Authorization = boolean | { readonly by: string } | Response;

/** How the handler serves. */
export interface HttpOptions {
  /**
   * Says who may do what: asked for each request, before its body is read. One that throws refuses. The request is the
   * one that came: do not read its body.
   *
   * Default: none. Then reads are served on the loopback alone, and every order is refused.
   */
  readonly authorize?: ((request: Request, action: HttpAction) => Authorization | Promise<Authorization>) | undefined;
  /** The path under which it is mounted, `/ownership` for instance. Default: the top. */
  readonly basePath?: string | undefined;
  /**
   * The names under which it may be asked, as `Host` gives them: `ops.example.com`, with its port where it has one, or
   * without for any port. A page of another site can have its own name resolved to your address, so other names are
   * refused. Needs `authorize`. Default: the loopback's.
   */
  readonly hosts?: readonly string[] | undefined;
  /** What your application adds to `GET /queue`, and so to the page: a list of plain objects is shown as a table. */
  readonly queue?: (() => object | Promise<object>) | undefined;
}

/** What a server knows of the other end of a connection, if it says so. */
export interface HttpPeer {
  /** Its address. */
  readonly remoteAddress?: string | undefined;
}

/** A Fetch handler; what it cannot serve it answers with a status and a JSON object of `type` and `message`. */
export interface HttpHandler {
  /** Serves one request; never rejects. */
  (request: Request, peer?: HttpPeer): Promise<Response>;
  /** Ends the streams of all viewers, so that a server can close. */
  close(): void;
}

const basePath: Rule<string> = by((name, value): asserts value is string => {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`);
  if (!/^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/.test(value))
    throw new RangeError(`${name} must be a path like "/ownership", without a slash at its end`);
});

const host: Rule<string> = by((name, value): asserts value is string => {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`);
  if (!/^(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?$/i.test(value))
    throw new RangeError(`${name} must be a name as Host gives it, "ops.example.com" for instance`);
});

const check = requestOf(
  {
    authorize: optional(callable as Rule<NonNullable<HttpOptions['authorize']>>),
    basePath: optional(basePath, ''),
    hosts: optional(list(host)),
    queue: optional(callable as unknown as Rule<NonNullable<HttpOptions['queue']>>),
  } satisfies RulesOf<HttpOptions>,
  'options',
);

/** The options after their check. */
export interface HttpSettings extends Pick<HttpOptions, 'authorize' | 'queue'> {
  readonly basePath: string;
  /** `undefined` for the names of the loopback. */
  readonly hosts: readonly string[] | undefined;
}

/** Checks the options; throws `TypeError` or `RangeError`. */
export function httpSettings(options: HttpOptions): HttpSettings {
  const { hosts, ...rest } = check(options);
  if (hosts !== undefined && rest.authorize === undefined)
    throw new TypeError('hosts needs authorize: without it the handler serves the loopback alone');
  return Object.freeze({ ...rest, hosts: hosts?.map((name) => name.toLowerCase()) });
}
