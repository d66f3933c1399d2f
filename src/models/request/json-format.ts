import type { ResponseFormat } from '../../core/agent/response-format.ts';
import { wordSet } from '../../core/words.ts';
import type { CallOptions, Model } from '../port/model.ts';

/**
 * How a model is asked for JSON: natively where its API takes a schema, else by a text. Servers that only speak OpenAI's
 * chat completions often ignore a schema without an error, so they get both.
 */
export interface JsonRequest {
  /** The option of the specification; null if only the text asks. */
  readonly option: NonNullable<CallOptions['responseFormat']> | null;
  /** Appended to the system text; null if the option is enough. */
  readonly text: string | null;
  /** Options of the AI SDK's package, without its namespace. */
  readonly packageOptions: Readonly<Record<string, unknown>>;
}

/** @param rejected whether the model has rejected this schema */
export function jsonRequest(
  model: Pick<Model, 'kind' | 'language'>,
  { schema }: ResponseFormat,
  rejected: boolean,
): JsonRequest {
  const isSent = !rejected && takesSchema(model, schema);
  return {
    option: isSent ? { type: 'json', schema } : null,
    text: isSent && isSure(model) ? null : instruction(schema),
    packageOptions: isSent && hasStrictMode(model) ? { strictJsonSchema: isStrict(schema) } : {},
  };
}

function instruction(schema: object): string {
  return `Answer only with JSON that matches this JSON schema, without any other text:\n${JSON.stringify(schema)}`;
}

/** All but Google accept only objects. */
function takesSchema({ kind }: Pick<Model, 'kind'>, { type }: ResponseFormat['schema']): boolean {
  return type === 'object' || kind === 'google';
}

/** Whether a schema that is not rejected is applied. */
function isSure({ kind, language }: Pick<Model, 'kind' | 'language'>): boolean {
  return ['anthropic', 'google', 'bedrock'].includes(kind) || isResponses(language);
}

function isResponses({ provider }: Model['language']): boolean {
  return provider.endsWith('.responses');
}

function hasStrictMode({ kind }: Pick<Model, 'kind'>): boolean {
  return ['openai', 'azure', 'openai-compatible', 'ollama'].includes(kind);
}

/**
 * Whether OpenAI's strict mode accepts the schema: every object is closed and requires all its properties, and it uses
 * the supported keywords only. Others are sent as a hint: Cueline validates the output anyway.
 */
function isStrict(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const {
    properties = {},
    required = [],
    additionalProperties,
    items,
    anyOf,
    $defs,
  } = Object(schema);
  const names = Object.keys(properties);
  const isObject = Object(schema).type === 'object' || names.length > 0;
  if (!Object.keys(schema).every((keyword) => strictKeywords.has(keyword))) return false;
  if (isObject && additionalProperties !== false) return false;
  if (!names.every((name) => required.includes(name))) return false;
  const within = [items ?? [], anyOf ?? [], properties, $defs ?? {}].flatMap((part, index) =>
    index === 0 ? part : Object.values(part),
  );
  return within.every(isStrict);
}

const strictKeywords = wordSet(`
  $defs $ref additionalProperties anyOf const description enum exclusiveMaximum exclusiveMinimum
  format items maxItems maximum minItems minimum multipleOf pattern properties required title type
`);
