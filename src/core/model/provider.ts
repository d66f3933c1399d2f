/** The providers that a workspace configures: their kinds, their names, and what they cannot do without. */

export const providerKinds = [
  'openai',
  'anthropic',
  'google',
  'azure',
  'bedrock',
  'ollama',
  'openai-compatible',
] as const;
/** Which interface a provider speaks. */
export type ProviderKind = (typeof providerKinds)[number];

/** A provider as a workspace stores it: its credential is sealed for the row. */
export interface StoredProvider {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly sealedApiKey: Buffer | null;
  readonly baseURL: string | null;
}

/** What may stand before the slash of a model, but for the built-in one. */
export function isProviderName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text) && text.toLowerCase() !== 'cueline';
}

/** Whether a kind has no address of its own. */
export function needsBaseURL(kind: ProviderKind): boolean {
  return kind === 'azure' || kind === 'openai-compatible';
}

/** Whether a credential can travel in a header as it stands; a line break from the clipboard could not. */
export function isCredential(text: string): boolean {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

/** Whom a stored credential is sealed for: what ties it to its row. */
export function sealOwner(row: { readonly workspaceId: string; readonly id: string }): string {
  return `${row.workspaceId}/${row.id}`;
}
