import { ModelFailure } from '../../core/model/model-port.ts';
import { baseOf, type ProviderAuth, type ProviderKind } from '../../core/model/provider.ts';
import { noExtras, type RequestExtras, secretsIn } from '../../core/model/request-extras.ts';
import type { PriceList } from '../response/prices.ts';
import { azureURL, defaultVersion } from './azure.ts';
import { issuedSecrets } from './chain-tokens.ts';
import type { Connection } from './provider-connection.ts';

/**
 * A provider's settings as a workspace stores them or the environment gives them.
 *
 * For `bedrock`, `apiKey` is a Bedrock API key (a bearer token), or `ACCESS_KEY_ID:SECRET_ACCESS_KEY` with an optional
 * `:SESSION_TOKEN` for signing; the region is read from `baseURL`, `https://bedrock-runtime.REGION.amazonaws.com`.
 */
export interface ProviderSettings {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string | null;
  readonly extras?: RequestExtras;
  readonly organization?: string | null;
  readonly project?: string | null;
  readonly auth?: ProviderAuth | null;
}

/**
 * Completes settings with the defaults of their kind. Executions and the connection test both append their path to this base
 * URL. Throws `PROVIDER_NOT_CONFIGURED` if something is missing. A workspace's settings are never mixed with the server's: its
 * address never receives the server's key, nor the server's address its key (except Ollama, which takes none).
 */
export function complete(
  settings: ProviderSettings,
  trusted: boolean,
  ownOllama: string,
): Connection {
  const { name, kind, apiKey, extras = noExtras, organization = null, project = null } = settings;
  const { auth = null } = settings;
  const given = settings.baseURL === null ? null : baseOf(settings.baseURL);
  // A header or a parameter may carry the credential instead.
  const others = Object.keys({ ...extras.headers, ...extras.query });
  if (!apiKey && auth === null && needsKey.has(kind) && others.length === 0) {
    throw missing(name, `kind ${kind} needs an apiKey`);
  }
  const common = { name, kind, apiKey, ...extras, organization, project, auth };
  if (kind === 'azure') return { ...common, ...azureConnection(given, extras, name), trusted };
  if (kind === 'ollama') {
    // Without an address it is the server's own Ollama, which any workspace reaches as `ollama` anyway.
    const baseURL = ollamaURL(given ?? baseOf(ownOllama));
    return { ...common, baseURL, trusted: trusted || !given };
  }
  const vertex = auth === 'chain' && kind === 'google' && project ? vertexURL(project) : null;
  const baseURL = given ?? vertex ?? vendorURLs.get(kind) ?? publicURL(kind, name);
  if (!baseURL) throw missing(name, `kind ${kind} needs a baseURL`);
  return { ...common, baseURL, trusted };
}

/** The models of Google at Vertex AI, in any of its regions. */
function vertexURL(project: string): string {
  return `https://aiplatform.googleapis.com/v1/projects/${project}/locations/global/publishers/google`;
}

function azureConnection(given: string | null, { query }: RequestExtras, name: string) {
  if (!given) throw missing(name, 'kind azure needs a baseURL');
  const baseURL = azureURL(given);
  const version = defaultVersion(baseURL);
  return { baseURL, query: { ...(version !== null && { 'api-version': version }), ...query } };
}

/** What must not appear in an error, with what the chain issued up to now. */
export function secretsOf(connection: Connection): string[] {
  const { apiKey } = connection;
  const issued = connection.auth === 'chain' ? issuedSecrets(connection) : [];
  return [...(apiKey ? [apiKey] : []), ...issued, ...secretsIn(connection)];
}

/** Where the price of a model of this provider is looked up. */
export function priceList({ kind, apiKey, baseURL }: Connection, model: string): PriceList {
  switch (kind) {
    case 'bedrock':
      return { provider: 'aws' };
    case 'ollama':
      // With a key, or for a `-cloud` model, the computation is not local.
      return apiKey || model.endsWith('-cloud') ? 'unknown' : 'free';
    case 'openai-compatible':
      return { url: baseURL };
    default:
      // Also behind another base URL: a gateway passes on the vendor's models under the vendor's names.
      return { provider: kind };
  }
}

export function missing(name: string, what: string): ModelFailure {
  return new ModelFailure(
    'PROVIDER_NOT_CONFIGURED',
    `The provider '${name}' is not configured: ${what}.`,
  );
}

const vendorURLs: ReadonlyMap<ProviderKind, string> = new Map([
  ['openai', 'https://api.openai.com/v1'],
  ['anthropic', 'https://api.anthropic.com/v1'],
  ['google', 'https://generativelanguage.googleapis.com/v1beta'],
  ['bedrock', 'https://bedrock-runtime.us-east-1.amazonaws.com'],
]);

function publicURL(kind: ProviderKind, name: string): string | undefined {
  return kind === 'openai-compatible' ? compatibleURLs.get(name) : undefined;
}

/** Public services with an OpenAI-compatible API, by the provider name in `provider/model`. */
const compatibleURLs: ReadonlyMap<string, string> = new Map([
  ['openrouter', 'https://openrouter.ai/api/v1'],
  ['groq', 'https://api.groq.com/openai/v1'],
  ['mistral', 'https://api.mistral.ai/v1'],
  ['deepseek', 'https://api.deepseek.com/v1'],
  ['xai', 'https://api.x.ai/v1'],
]);

const needsKey: ReadonlySet<ProviderKind> = new Set([
  'openai',
  'anthropic',
  'google',
  'azure',
  'bedrock',
]);

/** Ollama's own API is at the root, the OpenAI-compatible one below `/v1`: the address says which one is meant. */
function ollamaURL(baseURL: string): string {
  return baseURL.replace(/\/api(\/(chat|generate|tags))?$/, '');
}

/** Whether an address of Ollama is that of its own API. */
export function isOwnOllamaAPI({ kind, baseURL }: Connection): boolean {
  return kind === 'ollama' && !/\/v1$/.test(baseURL);
}
