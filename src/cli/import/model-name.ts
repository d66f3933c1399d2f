import { providerKinds } from '../../core/model/provider.ts';
import { patterns } from '../../http/contract/patterns.ts';

/** Models of other systems as `provider/model`. */

/** Providers that Cueline knows by name. Others need a provider of that name in the workspace. */
export const knownProviders: ReadonlySet<string> = new Set([
  ...providerKinds,
  ...['openrouter', 'groq', 'mistral', 'deepseek', 'xai', 'cueline'],
]);

/** The providers whose models are recognized by their names. */
const providersByModel: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o[1-9](-|$)|ft:gpt-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
  [/^(mistral|magistral|ministral|codestral)-/, 'mistral'],
  [/^deepseek-/, 'deepseek'],
  [/^grok-/, 'xai'],
];

/** A model whose name may lack the provider; null if its provider is unknown. */
export function fullModelName(name: string, provider?: string): string | null {
  if (knownProviders.has(name.split('/', 1)[0] ?? '')) return validModel(name);
  const [, recognized] = providersByModel.find(([pattern]) => pattern.test(name)) ?? [];
  const prefix = provider ?? recognized;
  return prefix === undefined ? null : validModel(`${prefix}/${name}`);
}

export function validModel(name: string): string | null {
  return new RegExp(patterns.model.source).test(name) ? name : null;
}
