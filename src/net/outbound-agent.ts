import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { type ProxySettings, usesProxy } from '../core/proxy-settings.ts';
import { unreached } from './outbound-failure.ts';
import { responseBytesMax } from './response-limits.ts';

/** The undici agents behind the outbound client, with or without proxies. */

export interface AgentTimeouts {
  /** Time to connect, including DNS lookup, TLS and the proxy's tunnel. */
  readonly connectMs: number;
  /** The maximum pause inside a response that has begun. */
  readonly silenceMs: number;
}

export interface AgentOptions {
  readonly timeouts: AgentTimeouts;
  readonly proxies: ProxySettings;
  /** Resolves and checks the address of direct connections. A proxy resolves names itself and is trusted. */
  readonly lookup?: LookupFunction;
}

/** Headers arrive when the whole response is ready, so only the call's own timeout bounds the first byte. */
const firstByteMs = 3_600_000;
/** Keep-alive probes stop routers from dropping an idle connection while a model works for minutes. */
const keepAliveProbeMs = 30_000;

export function createAgent(options: AgentOptions): Agent | EnvHttpProxyAgent {
  const { timeouts, proxies, lookup } = options;
  const { connectMs, silenceMs } = timeouts;
  const client = {
    // One HTTP/1.1 connection per call: on a shared HTTP/2 session one reset would end every call of the process.
    allowH2: false,
    pipelining: 1,
    headersTimeout: firstByteMs + connectMs,
    bodyTimeout: silenceMs,
    maxResponseSize: responseBytesMax,
  };
  const tls = {
    allowH2: false,
    timeout: connectMs,
    keepAliveInitialDelay: keepAliveProbeMs,
  };
  const connect = reporting(buildConnector({ ...tls, ...(lookup && { lookup }) }));
  if (!usesProxy(proxies)) return new Agent({ ...client, connect });
  return new EnvHttpProxyAgent({
    ...client,
    connect,
    httpProxy: proxies.http ?? '',
    httpsProxy: proxies.https ?? '',
    noProxy: proxies.noProxy,
    proxyTls: tls,
    requestTls: tls,
    // The proxy responds to CONNECT at once, unlike a model.
    clientFactory: poolFactory({ ...client, headersTimeout: connectMs }),
    factory: poolFactory(client),
  });
}

/** undici passes none of the agent's options to the pools of a proxy, only `connect`. */
function poolFactory(client: Pool.Options): (origin: string | URL, options: object) => Dispatcher {
  return (origin, options) => {
    const { connect } = options as { connect: buildConnector.connector };
    return new Pool(origin, { ...options, ...client, connect: reporting(connect) });
  };
}

/** Distinguishes failures before a connection exists, when nothing was sent, from later ones. */
function reporting(connect: buildConnector.connector): buildConnector.connector {
  return (target, done) =>
    connect(target, (...[error, socket]) =>
      error ? done(unreached(error), null) : done(null, socket),
    );
}
