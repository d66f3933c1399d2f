import { mayReceiveTokens, mayUseChain, notForTokens } from '../../core/model/credential-chain.ts';
import type { ProviderEnv, StoredProvider } from '../../core/model/provider.ts';
import { allowedHostCheck } from '../../net/guard.ts';
import { fromEnvironment, ownOllama, variableFor } from './environment.ts';
import type { Connection } from './provider-connection.ts';
import { complete, missing, type ProviderSettings } from './settings.ts';

export interface ConnectionOptions {
  /** Opens what a workspace has stored under that name; throws a `ModelFailure` if it cannot be opened. */
  readonly open: (
    workspaceId: string,
    providerName: string,
    stored: StoredProvider,
  ) => ProviderSettings;
  readonly env: ProviderEnv;
  /** Private hosts that a workspace's base URL may have: `host`, `host:port`, `[IPv6]:port`. */
  readonly allowedHosts: readonly string[];
  /** Workspaces that may use the server's own cloud identity; none by default. */
  readonly chainWorkspaces?: readonly string[];
}

/** The connection to a provider that a workspace has stored, else to that of the environment. @throws {ModelFailure} */
export type ConnectionOf = (
  workspaceId: string,
  provider: string,
  stored: StoredProvider | null,
) => Connection;

export function connectionsOf(options: ConnectionOptions): ConnectionOf {
  const { env, open } = options;
  return (workspaceId, provider, stored) => {
    const settings = stored ? open(workspaceId, provider, stored) : fromEnvironment(env, provider);
    if (settings) {
      const region = settings.auth === 'chain' ? env.AWS_REGION : undefined;
      const regional = inRegion(settings, region);
      const connection = complete(regional, stored === null, ownOllama(env));
      checkChain(options, workspaceId, connection);
      return { ...connection, ...(region && { region }) };
    }
    const variable = variableFor(provider);
    throw missing(
      provider,
      `store its credentials in the workspace${variable ? `, or set ${variable} on the server` : ''}`,
    );
  };
}

/** Again at each call: the operator's settings may have changed since the provider was stored. */
function checkChain(
  { chainWorkspaces = [], allowedHosts }: ConnectionOptions,
  workspaceId: string,
  { name, kind, baseURL, auth }: Connection,
): void {
  if (auth === null) return;
  const rules = { workspaces: chainWorkspaces, isAllowedHost: allowedHostCheck(allowedHosts) };
  if (!mayUseChain(workspaceId, rules)) {
    throw missing(name, 'CUELINE_CHAIN_WORKSPACES does not name this workspace');
  }
  if (!mayReceiveTokens(kind, baseURL, rules)) throw missing(name, notForTokens);
}

/** Bedrock in the server's region, where the provider names no address. */
function inRegion(settings: ProviderSettings, region: string | undefined): ProviderSettings {
  return region && settings.kind === 'bedrock' && settings.baseURL === null
    ? { ...settings, baseURL: `https://bedrock-runtime.${region}.amazonaws.com` }
    : settings;
}
