import { createHash } from 'node:crypto';
import type { CallSettings, ProviderOptions } from '../../core/agent/call-settings.ts';
import type { ProviderKind } from '../../core/model/provider.ts';
import type { CallOptions, Model } from '../port/model.ts';

/**
 * Settings for which the AI SDK's specification has no option of its own. Each kind has its own way, or none. Returns the
 * provider options of a request, and which settings the kind has no way to send.
 */
export function providerOptionsOf(
  { kind, name, providerOptions: fixed = {} }: Pick<Model, 'kind' | 'name' | 'providerOptions'>,
  settings: CallSettings,
  prompt: CallOptions['prompt'],
  more: Readonly<Record<string, unknown>> = {},
): { options: CallOptions['providerOptions']; unsent: readonly (keyof CallSettings)[] } {
  const { providerOptions: given = {}, serviceTier, cachePrompt, topK } = settings;
  const namespace = namespaceOf(kind, name, given);
  const builders = optionBuilders[kind];
  const tier =
    serviceTier === undefined ? null : (builders.serviceTier?.(serviceTier) ?? undefined);
  const cache = cachePrompt ? builders.cachePrompt?.(prompt) : null;
  const limit = topK === undefined ? null : builders.topK?.(topK);
  const own = {
    ...Object.assign({}, ...Object.values(fixed)),
    ...more,
    ...tier,
    ...cache,
    ...limit,
    ...Object.assign({}, ...aliasesOf(kind, name).map((alias) => given[alias] ?? {})),
  };
  const options = { ...given, ...(Object.keys(own).length > 0 && { [namespace]: own }) };
  const unsent = [
    ...(tier === undefined ? (['serviceTier'] as const) : []),
    ...(cache === undefined ? (['cachePrompt'] as const) : []),
  ];
  const isEmpty = Object.keys(options).length === 0;
  return { options: isEmpty ? undefined : (options as CallOptions['providerOptions']), unsent };
}

/** Marks where the stable beginning of a prompt ends: after the system text, and after a conversation so far. */
export function withCacheMarks(prompt: CallOptions['prompt']): CallOptions['prompt'] {
  const system = prompt.findLastIndex(({ role }) => role === 'system');
  const isConversation = prompt.length - system > 2;
  const last = system < 0 || isConversation ? prompt.length - 1 : -1;
  return prompt.map((message, index) =>
    index === system || index === last ? { ...message, providerOptions: cacheMark } : message,
  );
}

const cacheMark: NonNullable<CallOptions['providerOptions']> = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
  bedrock: { cachePoint: { type: 'default' } },
};

/** What a kind adds to its provider options; `undefined` if it has no way to send the setting. */
interface OptionBuilders {
  readonly serviceTier?: (tier: string) => object | undefined;
  readonly cachePrompt?: (prompt: CallOptions['prompt']) => object;
  /** Only where the specification's own option is not sent. */
  readonly topK?: (topK: number) => object;
}

const openai: OptionBuilders = {
  serviceTier: oneOf('auto', 'default', 'flex', 'priority', 'fast', 'ultrafast'),
  // Prompts are cached without being asked; the key leads those with the same beginning to the same cache.
  cachePrompt: (prompt) => ({ promptCacheKey: digestOf(prompt) }),
};
const cacheMarksOnly: OptionBuilders['cachePrompt'] = () => ({});

const optionBuilders: Readonly<Record<ProviderKind, OptionBuilders>> = {
  openai,
  azure: openai,
  anthropic: { serviceTier: oneOf('auto', 'standard_only'), cachePrompt: cacheMarksOnly },
  google: { serviceTier: oneOf('standard', 'flex', 'priority') },
  bedrock: {
    serviceTier: oneOf('reserved', 'priority', 'default', 'flex'),
    cachePrompt: cacheMarksOnly,
  },
  // An option of the model in its own API.
  ollama: { topK: (topK) => ({ top_k: topK }) },
  // Not in OpenAI's API, but in that of most servers that speak it.
  'openai-compatible': {
    serviceTier: (tier) => ({ service_tier: tier }),
    topK: (topK) => ({ top_k: topK }),
  },
};

/** A tier that the kind does not know is not sent: the package would reject the whole call. */
function oneOf(...tiers: readonly string[]): OptionBuilders['serviceTier'] {
  return (tier) => (tiers.includes(tier) ? { serviceTier: tier } : undefined);
}

function digestOf(prompt: CallOptions['prompt']): string {
  const system = prompt.filter(({ role }) => role === 'system').map(({ content }) => content);
  return createHash('sha256').update(JSON.stringify(system)).digest('hex').slice(0, 32);
}

/** Whether the kind takes `topK` by the specification's own option. */
export function sendsTopK(kind: ProviderKind): boolean {
  return optionBuilders[kind].topK === undefined;
}

/** The names under which the packages of a kind look for their options. */
function aliasesOf(kind: ProviderKind, name: string): readonly string[] {
  switch (kind) {
    case 'azure':
      return ['openai', 'azure'];
    case 'bedrock':
      return ['bedrock', 'amazonBedrock'];
    case 'openai-compatible':
    case 'ollama':
      return ['openai-compatible', 'openaiCompatible', packageName(name)];
    default:
      return [kind];
  }
}

function namespaceOf(kind: ProviderKind, name: string, given: ProviderOptions): string {
  if (kind === 'bedrock') return given.amazonBedrock ? 'amazonBedrock' : 'bedrock';
  if (kind === 'openai-compatible' || kind === 'ollama') return packageName(name);
  return kind;
}

/** As the package for compatible servers shortens its name. */
function packageName(name: string): string {
  return (name.split('.', 1)[0] ?? name).trim();
}
