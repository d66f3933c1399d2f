import { Type } from 'typebox';
import { reasoningEfforts } from '../../../core/agent/call-settings.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { nullableFields, oneOf, optional } from '../../../http/contract/shared.ts';

/** Settings of a call that a prompt version may set and an agent may override. */

const stopText = Type.String({ minLength: 1, maxLength: limits.stopTextMax });
const stopTexts = Type.Array(stopText, { minItems: 1, maxItems: limits.stopTextsMax });
const stopDescription = 'A text, or a list of texts, that ends the response.';
const penalty = (what: string) =>
  Type.Number({
    minimum: -limits.penaltyMax,
    maximum: limits.penaltyMax,
    description: `Positive values make ${what} less likely.`,
  });

export const callSettings = {
  reasoningEffort: oneOf(reasoningEfforts, 'How much the model reasons before it answers.'),
  stop: Type.Union([stopText, stopTexts], { description: stopDescription }),
  seed: Type.Integer({
    minimum: -limits.seedMax,
    maximum: limits.seedMax,
    description: 'For reproducible sampling, where the provider supports it.',
  }),
  topK: Type.Integer({
    minimum: 1,
    maximum: limits.topKMax,
    description: 'Sample only from this many most likely tokens.',
  }),
  presencePenalty: penalty('tokens that the text already contains'),
  frequencyPenalty: penalty('tokens that the text contains often'),
  cachePrompt: Type.Boolean({
    description: 'Whether to ask the provider to cache the beginning of the prompt.',
  }),
  serviceTier: Type.String({
    minLength: 1,
    maxLength: limits.serviceTierMax,
    description: "The provider's processing tier, for example `flex` or `priority`.",
  }),
  providerOptions: Type.Unsafe<Record<string, Record<string, unknown>>>({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: true },
    propertyNames: { minLength: 1, maxLength: limits.providerOptionsNameMax },
    maxProperties: limits.providerOptionsMax,
    description:
      "Options by the AI SDK's provider name (for example `openai`), passed on unchanged.",
    examples: [{ openai: { textVerbosity: 'low' } }],
  }),
};

const { seed, stop, topK, cachePrompt, serviceTier, ...longer } = optional(callSettings);
const { presencePenalty, providerOptions, reasoningEffort, frequencyPenalty } = longer;

/** The settings that a version has, in the order of `jsonb`: responses have always had them as they are stored. */
export const callSettingFields = {
  ...{ seed, stop, topK, cachePrompt, serviceTier },
  ...{ presencePenalty, providerOptions, reasoningEffort, frequencyPenalty },
};

/** The same settings as fields of a request that may be left out. */
export const callSettingInputs = optional(nullableFields(callSettings));
