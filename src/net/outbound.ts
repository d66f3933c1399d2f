import type { LookupFunction } from 'node:net';
import { type Dispatcher, request } from 'undici';
import { isAllowed, parseAllowedHosts } from '../core/allowed-hosts.ts';
import { noProxies, type ProxySettings } from '../core/proxy-settings.ts';
import { isPublicAddress } from './address.ts';
import { Dispatchers } from './dispatchers.ts';
import { notPublic, type Resolve, refusal, systemResolve } from './guard.ts';
import { type AgentTimeouts, createAgent } from './outbound-agent.ts';
import { interrupted, OutboundFailure } from './outbound-failure.ts';
import { readFileBody, readResponseBody } from './response-body.ts';
import { streamResponseBody } from './stream-body.ts';

/**
 * The outbound HTTP client: it makes every call to a provider. `post-event.ts` sends events over the same routes.
 *
 * Addresses are checked in the lookup of the connection itself, so the checked address is the one connected to: DNS
 * rebinding gains nothing. A call through a configured proxy has no such check: the proxy resolves the name. Redirects
 * are never followed: an API does not redirect a POST, and the key would travel to wherever the response points.
 *
 * It uses `undici.request`, not `fetch`, because fetch follows redirects, decodes and buffers on its own terms. A
 * response is read up to `responseBytesMax` (of an error only the beginning), both as sent and as decompressed. No compression is requested, but some gateways compress anyway.
 */
export interface Outbound extends OutboundFetch {
  /** The same, but a successful response is returned at its beginning, and its body arrives as it is read. */
  readonly streamed: OutboundFetch;
  /** As `guarded`, for a file of at most `fileBytesMax` instead of an API's response. */
  readonly download: typeof fetch;
  /** Aborts calls in flight. */
  close(): Promise<void>;
}

interface OutboundFetch {
  /** For URLs that a workspace configured: public hosts and those in `allowedHosts`. */
  readonly guarded: typeof fetch;
  /** For base URLs from the server's environment, which the operator chose. */
  readonly trusted: typeof fetch;
}

const connectMs = 10_000;
/** Some servers send headers long before the body. */
const silenceMs = 300_000;

export interface OutboundOptions {
  /** `host`, `host:port`, `[IPv6]` or `[IPv6]:port`: private addresses that workspaces may reach. */
  readonly allowedHosts: readonly string[];
  /** Defaults to the system resolver. */
  readonly resolve?: Resolve;
  /** Defaults to `connectMs` and `silenceMs`. */
  readonly timeouts?: AgentTimeouts;
  /** None by default. */
  readonly proxies?: ProxySettings;
}

export function createOutbound(options: OutboundOptions): Outbound {
  const routes = createRoutes(options);
  const trusted = (read: ReadBody): typeof fetch => {
    return (input, init) =>
      routes.trusted((dispatcher, acquire) => send(dispatcher, urlOf(input), init, read, acquire));
  };
  const guarded = (read: ReadBody): typeof fetch => {
    return async (input, init) => {
      const url = urlOf(input);
      return routes.guarded(url, (dispatcher, acquire) =>
        send(dispatcher, url, init, read, acquire),
      );
    };
  };
  return {
    trusted: trusted(readResponseBody),
    guarded: guarded(readResponseBody),
    download: guarded(readFileBody),
    streamed: { trusted: trusted(streamResponseBody), guarded: guarded(streamResponseBody) },
    close: routes.close,
  };
}

type Work<T> = (dispatcher: Dispatcher, acquire: () => () => void) => Promise<T>;

/** The dispatchers of one outbound client, and which of them may reach a URL. */
interface Routes {
  readonly trusted: <T>(work: Work<T>) => Promise<T>;
  /** Rejects a URL that is neither public nor allowed. */
  readonly guarded: <T>(url: URL, work: Work<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export function createRoutes({
  allowedHosts,
  resolve = systemResolve,
  timeouts = { connectMs, silenceMs },
  proxies = noProxies,
}: OutboundOptions): Routes {
  const anywhere = new Dispatchers(() => createAgent({ timeouts, proxies }));
  const lookup = guardedLookup(resolve);
  const publicOnly = new Dispatchers(() => createAgent({ timeouts, proxies, lookup }));
  const allowed = parseAllowedHosts(allowedHosts);
  return {
    trusted: (work) => anywhere.dispatch(work),
    async guarded(url, work) {
      const why = refusal(url, allowed);
      if (why) throw new OutboundFailure('refused', why);
      return (isAllowed(url, allowed) ? anywhere : publicOnly).dispatch(work);
    },
    close: async () => {
      await Promise.all([anywhere.close(), publicOnly.close()]);
    },
  };
}

/** All addresses must be public, not only the first: the next try would use another. */
export function guardedLookup(resolve: Resolve): LookupFunction {
  /** The system resolves only a few names at a time: a thousand calls to one host must not block others. */
  const pending = new Map<string, ReturnType<Resolve>>();
  const together = (name: string) => {
    const one = pending.get(name) ?? resolve(name).finally(() => pending.delete(name));
    pending.set(name, one);
    return one;
  };
  return (name, options, done) => {
    together(name).then(
      (found) => {
        const [first] = found;
        if (!first || !found.every(({ address }) => isPublicAddress(address))) {
          done(new OutboundFailure('refused', notPublic), '', 0);
        } else if (options.all) {
          done(null, [...found]);
        } else {
          done(null, first.address, first.family);
        }
      },
      (error: Error) => done(error, '', 0),
    );
  };
}

type ReadBody = typeof streamResponseBody;

async function send(
  dispatcher: Dispatcher,
  url: URL,
  init: RequestInit = {},
  read: ReadBody,
  acquire: () => () => void,
): Promise<Response> {
  const signal = init.signal ?? undefined;
  try {
    const response = await request(url, {
      dispatcher,
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers: headersOf(init),
      body: bodyOf(init.body),
      signal,
    });
    return await read(response, signal, acquire);
  } catch (error) {
    // An abort is the caller's own and is rethrown as it is.
    throw signal?.aborted ? error : interrupted(error);
  }
}

function headersOf(init: RequestInit): Record<string, string> {
  const headers = Object.fromEntries(new Headers(init.headers));
  // A `Host` header from the caller would name another site than the one that was checked.
  delete headers.host;
  return { ...headers, 'accept-encoding': 'identity' };
}

function bodyOf(body: RequestInit['body']): string | Uint8Array | null {
  if (body == null) return null;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('an outbound body is a text or bytes');
}

function urlOf(input: Parameters<typeof fetch>[0]): URL {
  return new URL(input instanceof Request ? input.url : input);
}
