import { Type } from 'typebox';
import * as limits from '../../../http/contract/contract-limits.ts';
import { patterns } from '../../../http/contract/patterns.ts';

/** Model settings. A prompt version sets defaults and an agent overrides them. */
export const modelSettings = {
  model: Type.String({
    maxLength: limits.modelMax,
    pattern: patterns.model.source,
    description: 'Format: `provider/model`.',
    examples: ['openai/gpt-5.5', 'cueline/echo'],
  }),
  temperature: Type.Number({
    minimum: 0,
    maximum: limits.temperatureMax,
    description: 'Sampling temperature. Higher values give more varied output.',
  }),
  maxTokens: Type.Integer({
    minimum: 1,
    maximum: limits.maxTokensMax,
    description: 'Maximum number of output tokens.',
  }),
  topP: Type.Number({ minimum: 0, maximum: 1, description: 'Nucleus sampling probability mass.' }),
};
