import {
  baseOf,
  credentialOf,
  type ProviderEnv,
  type ProviderKind,
  type ProviderVariable,
} from '../../core/model/provider.ts';
import type { ProviderSettings } from './settings.ts';

/** The provider of this name from the environment; `null` if it has no credentials there. */
export function fromEnvironment(env: ProviderEnv, name: string): ProviderSettings | null {
  if (name === 'ollama') return { name, kind: 'ollama', apiKey: null, baseURL: ownOllama(env) };
  const source = sources.get(name);
  if (!source) return null;
  const get = (variable: ProviderVariable) => env[variable]?.trim() || null;
  const given = get(source.variable) ?? source.otherKey?.(get);
  const apiKey = given ? credentialOf(given) : null;
  const baseURL = source.baseURL?.(get) ?? null;
  return apiKey ? { name, kind: source.kind, apiKey, baseURL } : null;
}

/**
 * The server's own Ollama, available without configuration. `OLLAMA_HOST` is Ollama's own variable, which also sets its
 * listen address: `0.0.0.0` means this machine, and scheme and port are optional.
 */
export function ownOllama(env: ProviderEnv): string {
  const url = env.OLLAMA_BASE_URL?.trim();
  if (url) return url;
  const host = env.OLLAMA_HOST?.trim() ?? '';
  const [, scheme = 'http', name = '', port] = hostForm.exec(host) ?? [];
  const reachable = ['', '0.0.0.0', '[::]'].includes(name) ? '127.0.0.1' : name;
  return `${scheme}://${reachable}:${port ?? (scheme === 'https' ? 443 : 11_434)}`;
}

/** The name for metrics: a workspace may choose any other. */
export function knownProvider(name: string): string {
  return name === 'cueline' || name === 'ollama' || variableFor(name) !== null ? name : 'other';
}

/** The providers with credentials in the environment. Not Ollama, which is there without configuration. */
export function environmentProviders(env: ProviderEnv): { name: string; kind: ProviderKind }[] {
  return [...sources].flatMap(([name, { kind }]) =>
    fromEnvironment(env, name) ? [{ name, kind }] : [],
  );
}

/** A small model of the first provider with credentials in the environment, for a demo; null if there is none. */
export function demoModel(env: ProviderEnv): string | null {
  const found = [...sources].find(([name, { demo }]) => demo && fromEnvironment(env, name));
  return found ? `${found[0]}/${found[1].demo}` : null;
}

/** The variable that configures a provider of this name, for messages. */
export function variableFor(name: string): ProviderVariable | null {
  return sources.get(name)?.variable ?? null;
}

const hostForm = /^(?:(https?):\/\/)?(\[[^\]]*\]|[^:/]*)(?::(\d+))?\/*$/;

type Get = (variable: ProviderVariable) => string | null;

interface Source {
  readonly kind: ProviderKind;
  readonly variable: ProviderVariable;
  readonly otherKey?: (get: Get) => string | null;
  readonly baseURL?: (get: Get) => string | null;
  /** A small model that every account has. Azure and Bedrock have none: names depend on the account and the region. */
  readonly demo?: string;
}

const sources: ReadonlyMap<string, Source> = new Map<string, Source>([
  [
    'openai',
    {
      kind: 'openai',
      variable: 'OPENAI_API_KEY',
      baseURL: (get) => get('OPENAI_BASE_URL'),
      demo: 'gpt-5.4-mini',
    },
  ],
  [
    'anthropic',
    {
      kind: 'anthropic',
      variable: 'ANTHROPIC_API_KEY',
      baseURL: anthropicURL,
      demo: 'claude-haiku-4-5',
    },
  ],
  [
    'google',
    {
      kind: 'google',
      variable: 'GOOGLE_GENERATIVE_AI_API_KEY',
      otherKey: (get) => get('GEMINI_API_KEY'),
      demo: 'gemini-3.5-flash',
    },
  ],
  ['azure', { kind: 'azure', variable: 'AZURE_API_KEY', baseURL: azureURL }],
  [
    'bedrock',
    { kind: 'bedrock', variable: 'AWS_BEARER_TOKEN_BEDROCK', otherKey: awsKeys, baseURL: awsURL },
  ],
  ['openrouter', compatible('OPENROUTER_API_KEY', 'openai/gpt-5.4-mini')],
  ['groq', compatible('GROQ_API_KEY', 'openai/gpt-oss-20b')],
  ['mistral', compatible('MISTRAL_API_KEY', 'mistral-small-latest')],
  ['deepseek', compatible('DEEPSEEK_API_KEY', 'deepseek-chat')],
  ['xai', compatible('XAI_API_KEY', 'grok-4-fast')],
]);

function compatible(variable: ProviderVariable, demo: string): Source {
  return { kind: 'openai-compatible', variable, demo };
}

/** Unlike OpenAI's, Anthropic's libraries take the base URL without `/v1`. */
function anthropicURL(get: Get): string | null {
  const url = get('ANTHROPIC_BASE_URL');
  return url ? `${baseOf(url).replace(/\/v1$/, '')}/v1` : null;
}

function azureURL(get: Get): string | null {
  const resource = get('AZURE_RESOURCE_NAME');
  return get('AZURE_BASE_URL') ?? (resource && `https://${resource}.openai.azure.com/openai/v1`);
}

/** Only keys in the environment: no profiles and no instance roles, whose service is never contacted. */
function awsKeys(get: Get): string | null {
  const parts = [get('AWS_ACCESS_KEY_ID'), get('AWS_SECRET_ACCESS_KEY')];
  const token = get('AWS_SESSION_TOKEN');
  return parts.every(Boolean) ? [...parts, ...(token ? [token] : [])].join(':') : null;
}

function awsURL(get: Get): string | null {
  const region = get('AWS_REGION');
  return region && `https://bedrock-runtime.${region}.amazonaws.com`;
}
