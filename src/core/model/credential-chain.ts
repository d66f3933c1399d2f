import { toId } from '../id.ts';
import type { ProviderKind } from './provider.ts';

/**
 * The cloud identity of the server itself, from its environment, profile, workload identity or instance role, instead
 * of an API key. It is the operator's, so only workspaces that the operator names may use it, and its tokens go only to
 * that cloud's own hosts or those that the operator allows.
 */
export interface ChainRules {
  /** Identifiers as on the wire. */
  readonly workspaces: readonly string[];
  /** Whether the operator allows this host for providers. */
  readonly isAllowedHost: (url: URL) => boolean;
}

export function hasChain(kind: ProviderKind): boolean {
  return cloudHosts.has(kind);
}

export function mayUseChain(workspaceId: string, { workspaces }: ChainRules): boolean {
  return workspaces.includes(toId('workspace', workspaceId));
}

/** Whether tokens of this kind's cloud may be sent to that address. */
export function mayReceiveTokens(
  kind: ProviderKind,
  baseURL: string,
  { isAllowedHost }: ChainRules,
): boolean {
  const url = URL.parse(baseURL);
  if (!url) return false;
  const isOwn = url.protocol === 'https:' && cloudHosts.get(kind)?.test(url.hostname);
  return isOwn || isAllowedHost(url);
}

export const notForTokens =
  'Field "baseURL" must be one of the cloud\'s own hosts: the server\'s identity is sent there. Others must be named in CUELINE_ALLOWED_HOSTS.';

/** Only hosts under which customers cannot put a server of their own. */
const cloudHosts: ReadonlyMap<ProviderKind, RegExp> = new Map([
  ['bedrock', /^bedrock(-runtime)?(-fips)?\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|api\.aws)$/],
  ['google', /^([a-z0-9-]+-)?aiplatform\.googleapis\.com$/],
  [
    'azure',
    /^[a-z0-9-]+\.(openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.(com|us|cn)$/,
  ],
]);
