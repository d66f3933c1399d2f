/** Settings of a model call that most versions leave to the provider; those that are not set are absent. */
export interface CallSettings {
  readonly reasoningEffort?: ReasoningEffort;
  /** Texts that end the response. */
  readonly stop?: string | string[];
  readonly seed?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  /** Whether the provider is asked to cache the beginning of the prompt. */
  readonly cachePrompt?: boolean;
  readonly serviceTier?: string;
  /** Options by the AI SDK's provider name, passed on unchanged. */
  readonly providerOptions?: ProviderOptions;
}

export type ProviderOptions = Record<string, Record<string, unknown>>;

/** Settings as a caller may send them. */
export type CallSettingInputs = {
  readonly [Name in keyof CallSettings]?: CallSettings[Name] | null | undefined;
};

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export const callSettingNames = [
  'reasoningEffort',
  'stop',
  'seed',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'cachePrompt',
  'serviceTier',
  'providerOptions',
] as const satisfies readonly (keyof CallSettings)[];

/** The call settings among other fields; `null` counts as not set. */
export function callSettingsOf(fields: CallSettingInputs): CallSettings {
  const given = callSettingNames.flatMap((name) =>
    (fields[name] ?? null) === null ? [] : [[name, fields[name]]],
  );
  return Object.fromEntries(given);
}

export function hasSettings(settings: CallSettings): boolean {
  return Object.keys(settings).length > 0;
}
