import type { HttpPeer, HttpSettings } from './http-options.js';
import { refusal } from './replies.js';

/** What a proxy adds: a request that has one of them did not come from this host alone. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];
const LOOPBACK_NAME = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
const LOOPBACK_ADDRESS = /^(?:(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/i;

/**
 * Refuses whoever does not come to one of our names, or comes from a page of elsewhere.
 *
 * A page of another site may have its name resolved to this host, and is then of the same origin as this server: so the
 * name that was asked for must be one of ours, and so must that of the page that asks.
 */
export function refuseForeign(
  request: Request,
  peer: HttpPeer | undefined,
  { authorize, hosts }: Pick<HttpSettings, 'authorize' | 'hosts'>,
): Response | undefined {
  const { headers } = request;
  const asked = hostOf(headers.get('host') ?? new URL(request.url).host);
  if (asked === undefined || !isOurs(asked, hosts)) {
    const way = hosts === undefined ? ' The option hosts names others.' : '';
    return refusal(403, 'foreign-host', `This handler does not answer to that name.${way}`);
  }
  if (isOfAnotherPage(request, asked, hosts === undefined))
    return refusal(403, 'foreign-origin', 'A page of another site asks.');
  if (authorize !== undefined) return undefined;
  const far = peer?.remoteAddress;
  const isFar = typeof far === 'string' && !LOOPBACK_ADDRESS.test(far);
  return isFar || FORWARDED.some((name) => headers.has(name))
    ? refusal(403, 'not-local', 'Without authorize this handler serves the loopback alone.')
    : undefined;
}

/** Name and port; `undefined` for what is none. */
function hostOf(text: string): URL | undefined {
  const url = `http://${text}`;
  if (!/^[^/?#@\\\s]+$/.test(text) || !URL.canParse(url)) return undefined;
  return new URL(url);
}

function isOurs({ host, hostname }: URL, hosts: readonly string[] | undefined): boolean {
  return hosts === undefined ? LOOPBACK_NAME.test(hostname) : hosts.includes(host) || hosts.includes(hostname);
}

/** A server behind a proxy does not know whether the page was fetched by TLS, so that is not asked of it. */
function isOfAnotherPage({ headers, method }: Request, asked: URL, plain: boolean): boolean {
  const site = headers.get('sec-fetch-site');
  if (method !== 'GET' && site !== null && site !== 'same-origin' && site !== 'none') return true;
  const origin = headers.get('origin');
  return origin !== null && origin !== `http://${asked.host}` && (plain || origin !== `https://${asked.host}`);
}
