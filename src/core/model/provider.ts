/** Provider kinds and names, and what each kind requires. */

export const providerKinds = [
  'openai',
  'anthropic',
  'google',
  'azure',
  'bedrock',
  'ollama',
  'openai-compatible',
] as const;
/** The API that a provider speaks. */
export type ProviderKind = (typeof providerKinds)[number];

/** A provider as stored: its credential is sealed for the row. */
export interface StoredProvider {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly sealedApiKey: Buffer | null;
  readonly baseURL: string | null;
  /** The JSON text of `RequestExtras`; null if there are none. */
  readonly sealedExtras: Buffer | null;
  readonly organization: string | null;
  readonly project: string | null;
  /** `chain`: the server's own cloud identity instead of an API key. */
  readonly auth: ProviderAuth | null;
}

/** How requests are authorized if not by an API key. */
export const providerAuths = ['chain'] as const;
export type ProviderAuth = (typeof providerAuths)[number];

/** A valid provider name of a workspace; the built-in one is reserved. */
export function isProviderName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text) && text.toLowerCase() !== 'cueline';
}

/** Whether a kind has no default base URL. */
export function needsBaseURL(kind: ProviderKind): boolean {
  return kind === 'azure' || kind === 'openai-compatible';
}

/** The base of a pasted URL: without the path of a call and slashes at the end. */
export function baseOf(url: string): string {
  return url
    .trim()
    .replace(/\/+$/, '')
    .replace(/\/+(chat\/+completions|messages|responses)$/i, '')
    .replace(/\/+$/, '');
}

/** The credential in a pasted header: `Bearer sk-…`. */
export function credentialOf(text: string): string {
  return text.replace(/^(authorization:\s*)?bearer\s+/i, '');
}

/** Whether a credential is a valid header value; a pasted line break is not. */
export function isCredential(text: string): boolean {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

/** The associated data that ties a sealed credential to its row. */
export function sealOwner(row: { readonly workspaceId: string; readonly id: string }): string {
  return `${row.workspaceId}/${row.id}`;
}

/** Whether a kind has the headers of OpenAI that name an organization and a project. */
export function hasOrganization(kind: ProviderKind): boolean {
  return kind === 'openai' || kind === 'azure' || kind === 'openai-compatible';
}

/** Likewise for the sealed extras of the row, which must not be read as its credential. */
export function sealExtrasOwner(row: {
  readonly workspaceId: string;
  readonly id: string;
}): string {
  return `${sealOwner(row)}/extras`;
}

/** Likewise for the URL of an endpoint. */
export function sealURLOwner(row: { readonly workspaceId: string; readonly id: string }): string {
  return `${sealOwner(row)}/url`;
}

/** The environment variables that configure providers. An empty one counts as absent. */
export const providerVariables = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GEMINI_API_KEY',
  'AZURE_API_KEY',
  'AZURE_RESOURCE_NAME',
  'AZURE_BASE_URL',
  'AWS_BEARER_TOKEN_BEDROCK',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_REGION',
  'OLLAMA_BASE_URL',
  'OLLAMA_HOST',
  'OPENROUTER_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
] as const;
export type ProviderVariable = (typeof providerVariables)[number];
export type ProviderEnv = Readonly<Partial<Record<ProviderVariable, string>>>;
