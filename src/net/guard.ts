import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type AllowedHosts, isAllowed, parseAllowedHosts } from '../core/allowed-hosts.ts';
import { isPublicAddress } from './address.ts';

/**
 * The outbound guard: which URLs a provider may have. Every check uses the parsed URL, never its text: the parser turns
 * `0x7f.1`, `2130706433`, `127。0。0。1` and the like into the address they mean, and the connection uses the parser's
 * result.
 *
 * Public hosts require `https:`, because a key is sent to them. `allowedHosts` lists the operator's exceptions
 * (`127.0.0.1:9000`, `ollama.lan`, `[::1]:8080`): exactly that host, on that port if given, may have any address and
 * plain `http:`.
 */

const urlCharsMax = 2_000;
/** The check during a PUT, while its caller waits; every connection checks again and decides. */
const checkMs = 5_000;

/** All addresses of a name. Injectable, so that tests can simulate DNS rebinding. */
export type Resolve = (name: string) => Promise<readonly Address[]>;
export interface Address {
  readonly address: string;
  readonly family: number;
}

export const systemResolve: Resolve = (name) => lookup(name, { all: true });

/**
 * Why a workspace may not use this base URL, as public text; `null` if it may. A name that does not resolve now is
 * accepted: the check of each connection decides.
 */
export async function checkBaseURL(
  text: string,
  allowedHosts: readonly string[],
  resolve: Resolve = systemResolve,
): Promise<string | null> {
  if (text.length > urlCharsMax) return `The base URL must have at most ${urlCharsMax} characters.`;
  const url = URL.parse(text);
  if (!url) return 'The base URL is not a URL.';
  // API paths are appended to the text: behind `?` or `#` they would not be a path.
  if (/[?#]/.test(text))
    return 'The base URL must have no query and no fragment. Parameters belong in "query".';
  return checkAddress(url, parseAllowedHosts(allowedHosts), resolve);
}

/** Likewise for the URL of a tool server, to which paths are appended too. Nothing of it has parameters. */
export async function checkToolServerURL(
  text: string,
  allowedHosts: readonly string[],
  resolve: Resolve = systemResolve,
): Promise<string | null> {
  if (URL.canParse(text) && /[?#]/.test(text)) return 'The URL must have no query and no fragment.';
  const problem = await checkBaseURL(text, allowedHosts, resolve);
  return problem && aboutURL(problem);
}

/** Likewise for the URL of an endpoint, which may have a query. */
export async function checkEndpointURL(
  text: string,
  allowedHosts: readonly string[],
  resolve: Resolve = systemResolve,
): Promise<string | null> {
  const url = URL.parse(text);
  if (!url || text.length > urlCharsMax) return 'The URL is not valid.';
  const problem = await checkAddress(url, parseAllowedHosts(allowedHosts), resolve);
  return problem && aboutURL(problem);
}

/**
 * Whether a URL that another server will fetch points to a public address, or to an allowed host. That server resolves the
 * name itself, perhaps to another address: this is all that can be checked here.
 */
export async function isPublicURL(
  url: URL,
  allowedHosts: readonly string[],
  resolve: Resolve = systemResolve,
): Promise<boolean> {
  return (await checkAddress(url, parseAllowedHosts(allowedHosts), resolve)) === null;
}

/** The message for a URL that is no base URL. */
export function aboutURL(problem: string): string {
  return problem.replace('base URL', 'URL');
}

async function checkAddress(
  url: URL,
  allowed: AllowedHosts,
  resolve: Resolve,
): Promise<string | null> {
  const refused = refusal(url, allowed);
  if (refused || isAllowed(url, allowed) || isAddress(url)) return refused;
  const given = new AbortController();
  try {
    const late = wait(checkMs, [], { signal: given.signal, ref: false });
    // A late lookup counts as none: there is nothing to reject.
    const found = await Promise.race([resolve(url.hostname), late]);
    return found.every(({ address }) => isPublicAddress(address)) ? null : notPublic;
  } catch {
    return null;
  } finally {
    given.abort();
  }
}

/** Why a call may not go to this URL, judged by the URL alone. Resolved addresses are judged on connecting. */
export function refusal(url: URL, allowed: AllowedHosts): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return 'The base URL must begin with https://.';
  }
  if (url.username || url.password) return 'The base URL must have no user name and no password.';
  if (isAllowed(url, allowed)) return null;
  if (url.protocol === 'http:') {
    return 'The base URL must begin with https://; plain http:// is for hosts that CUELINE_ALLOWED_HOSTS names.';
  }
  if (isAddress(url)) return isPublicAddress(bare(url.hostname)) ? null : notPublic;
  return privateName.test(url.hostname) || !publicName.test(url.hostname) ? notPublic : null;
}

/** Whether the operator allows a URL's host, whatever address it has. */
export function allowedHostCheck(entries: readonly string[]): (url: URL) => boolean {
  const allowed = parseAllowedHosts(entries);
  return (url) => isAllowed(url, allowed);
}

export const notPublic =
  'The base URL does not point to a public address; private ones must be named in CUELINE_ALLOWED_HOSTS.';

/** At least two labels and no trailing dot: `example.com.` is the same host with another text. */
const publicName = /^[^.]+(\.[^.]+)+$/;
/** Names reserved for use inside a network (RFC 6761, 6762, 8375, and `.internal`). */
const privateName = /(^|\.)(localhost|local|internal|home\.arpa)$/;

function isAddress(url: URL): boolean {
  return isIP(bare(url.hostname)) !== 0;
}

/** The host without the brackets that a URL puts around IPv6. */
function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
