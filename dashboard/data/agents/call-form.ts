import type { Agent, AgentInput } from '../../../src/client/index.ts';
import { schemaProblem } from '../prompts/schemas.ts';
import { parseJsonObject } from '../text/json-object.ts';

/** The rarer settings of an agent's calls as form state. Whatever is empty or null is the version's. */
export interface CallForm {
  readonly reasoningEffort: string;
  /** One per line. */
  readonly stop: string;
  readonly seed: number | null;
  readonly topK: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  readonly cachePrompt: '' | 'on' | 'off';
  readonly serviceTier: string;
  /** JSON text. */
  readonly providerOptions: string;
  /** The JSON schema of the output, as text. */
  readonly outputSchema: string;
}

export const blankCallForm: CallForm = {
  reasoningEffort: '',
  stop: '',
  seed: null,
  topK: null,
  presencePenalty: null,
  frequencyPenalty: null,
  cachePrompt: '',
  serviceTier: '',
  providerOptions: '',
  outputSchema: '',
};

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

type Config = NonNullable<AgentInput['agentConfig']>;
type ReasoningEffort = NonNullable<Config['reasoningEffort']>;

export function callFormFrom(config: Agent['agentConfig']): CallForm {
  const { stop, providerOptions, responseFormat, cachePrompt } = config;
  return {
    reasoningEffort: config.reasoningEffort ?? '',
    stop: [stop ?? []].flat().join('\n'),
    seed: config.seed ?? null,
    topK: config.topK ?? null,
    presencePenalty: config.presencePenalty ?? null,
    frequencyPenalty: config.frequencyPenalty ?? null,
    cachePrompt: cachePrompt === undefined ? '' : cachePrompt ? 'on' : 'off',
    serviceTier: config.serviceTier ?? '',
    providerOptions: providerOptions ? JSON.stringify(providerOptions, null, 2) : '',
    outputSchema: responseFormat ? JSON.stringify(responseFormat.schema, null, 2) : '',
  };
}

/** Null removes a setting. Texts that are not valid JSON are not sent: the form does not submit them. */
export function toCallConfig(form: CallForm) {
  const stop = form.stop.split('\n').filter((line) => line !== '');
  const { seed, topK, presencePenalty, frequencyPenalty, cachePrompt } = form;
  return {
    reasoningEffort: (form.reasoningEffort || null) as ReasoningEffort | null,
    stop: stop.length === 0 ? null : stop,
    ...{ seed, topK, presencePenalty, frequencyPenalty },
    cachePrompt: cachePrompt === '' ? null : cachePrompt === 'on',
    serviceTier: form.serviceTier.trim() || null,
    providerOptions: parseJsonObject(form.providerOptions) as Config['providerOptions'] | null,
    responseFormat: responseFormatOf(form),
  };
}

function responseFormatOf({ outputSchema }: CallForm) {
  if (outputSchema.trim() === '' || schemaProblem(outputSchema) !== null) return null;
  return { type: 'json', schema: JSON.parse(outputSchema) } as const;
}

/** What is wrong with the JSON in the form; null if nothing is. */
export function callFormProblem({ providerOptions, outputSchema }: CallForm): string | null {
  return schemaProblem(outputSchema) ?? optionsProblem(providerOptions);
}

export function optionsProblem(text: string): string | null {
  return text.trim() === '' || parseJsonObject(text) ? null : 'Not a JSON object.';
}
