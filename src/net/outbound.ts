import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { isPublicAddress } from './address.ts';
import { dispatchers } from './dispatchers.ts';
import {
  isAllowed,
  notPublic,
  parseAllowedHosts,
  type Resolve,
  refusal,
  systemResolve,
} from './guard.ts';
import { interrupted, OutboundFailure, unreached } from './outbound-failure.ts';
import { readResponseBody } from './response-body.ts';
import { responseBytesMax } from './response-limits.ts';

/**
 * The one client through which Cueline reaches a provider.
 *
 * An address is checked in the lookup of the connection itself, so the address that was checked is the one that is
 * connected to: a name that resolves otherwise a moment later (DNS rebinding) gains nothing. A redirect is never
 * followed: an API does not redirect a POST, and the key would travel on to wherever the answer points.
 *
 * It is `undici.request` and not `fetch`, since a fetch follows, decodes and buffers on its own terms: here an answer
 * is read whole, at most `responseBytesMax` (of an error only the beginning), and never decompressed, so a small body
 * cannot become a large one.
 */
export interface Outbound {
  /** For URLs that a workspace gave: public hosts, and those of `allowedHosts`. */
  readonly guarded: typeof fetch;
  /** For the base URLs of the server's own environment, which the operator chose. */
  readonly trusted: typeof fetch;
  /** Cuts what is still in flight. */
  close(): Promise<void>;
}

/** Time to reach the host, name lookup and TLS included. */
const connectMs = 10_000;
/** The longest silence inside an answer that has begun; some servers send the headers long before they think. */
const silenceMs = 300_000;
/** The headers come when the whole answer is ready, so the first byte is bounded by the call's own timeout alone. */
const firstByteMs = 3_600_000;
/** Probes keep an idle connection known to the routers on its way while a model thinks for minutes. */
const keepAliveProbeMs = 30_000;

interface OutboundOptions {
  /** `host`, `host:port`, `[IPv6]` or `[IPv6]:port`: what a workspace may reach though it is private. */
  readonly allowedHosts: readonly string[];
  /** The system's way where it is left out. */
  readonly resolve?: Resolve;
  /** `connectMs` and `silenceMs` where they are left out. */
  readonly timeouts?: { readonly connectMs: number; readonly silenceMs: number };
}

export function createOutbound({
  allowedHosts,
  resolve = systemResolve,
  timeouts = { connectMs, silenceMs },
}: OutboundOptions): Outbound {
  const allowed = parseAllowedHosts(allowedHosts);
  const anywhere = dispatchers(() => agent(timeouts));
  const publicOnly = dispatchers(() => agent(timeouts, guardedLookup(resolve)));
  return {
    trusted: (input, init) =>
      anywhere.through((dispatcher) => send(dispatcher, urlOf(input), init)),
    guarded: async (input, init) => {
      const url = urlOf(input);
      const why = refusal(url, allowed);
      if (why) throw new OutboundFailure('refused', why);
      const allowedOnes = isAllowed(url, allowed) ? anywhere : publicOnly;
      return allowedOnes.through((dispatcher) => send(dispatcher, url, init));
    },
    close: async () => {
      await Promise.all([anywhere.close(), publicOnly.close()]);
    },
  };
}

/** One connection per call, HTTP/1.1: on a shared HTTP/2 session one reset would end every call of the process. */
function agent(timeouts: NonNullable<OutboundOptions['timeouts']>, lookup?: LookupFunction): Agent {
  return new Agent({
    allowH2: false,
    pipelining: 1,
    headersTimeout: firstByteMs + connectMs,
    bodyTimeout: timeouts.silenceMs,
    maxResponseSize: responseBytesMax,
    connect: connector(timeouts.connectMs, lookup),
  });
}

/** Tells what fails before there is a connection, so that nothing was sent, from all that comes later. */
function connector(timeout: number, lookup?: LookupFunction): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout,
    keepAliveInitialDelay: keepAliveProbeMs,
    ...(lookup ? { lookup } : {}),
  });
  return (target, done) =>
    connect(target, (...[error, socket]) =>
      error ? done(unreached(error), null) : done(null, socket),
    );
}

/** All addresses must be public, not only the one that is tried first: the next attempt would take another. */
export function guardedLookup(resolve: Resolve): LookupFunction {
  /** The system looks up only a few names at a time: a thousand calls to one host must not keep others waiting. */
  const underWay = new Map<string, ReturnType<Resolve>>();
  const together = (name: string) => {
    const one = underWay.get(name) ?? resolve(name).finally(() => underWay.delete(name));
    underWay.set(name, one);
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

async function send(dispatcher: Agent, url: URL, init: RequestInit = {}): Promise<Response> {
  const signal = init.signal ?? undefined;
  try {
    const answer = await request(url, {
      dispatcher,
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers: headersOf(init),
      body: bodyOf(init.body),
      signal,
    });
    return await readResponseBody(answer, signal);
  } catch (error) {
    // An abort is the caller's own: it goes back as it came.
    throw signal?.aborted ? error : interrupted(error);
  }
}

function headersOf(init: RequestInit): Record<string, string> {
  const headers = Object.fromEntries(new Headers(init.headers));
  // A `Host` of the caller's would name another site than the one that was checked.
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
