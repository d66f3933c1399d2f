import { type TSchema, Type } from 'typebox';
import { idempotency } from '../../features/executions/contract/executions-contract.ts';
import * as limits from '../../http/contract/contract-limits.ts';
import { endpoint } from '../../http/contract/operation.ts';
import { OpenAIProblem, openaiProblems } from '../../http/contract/problem.ts';
import { body, oneOf } from '../../http/contract/shared.ts';

/**
 * The part of the OpenAI API that Cueline serves. Its objects have the fields that OpenAI documents, so only the most used
 * ones are declared here.
 */

const tag = 'OpenAI API';

function open<P extends Record<string, TSchema>>(title: string, properties: P) {
  return Type.Object(properties, { title, additionalProperties: true });
}

/** Parameters that OpenAI's clients add, such as `api-version`, change nothing. */
function openQuery<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: true });
}
const anyQuery = openQuery({});

const anything = (description: string) => Type.Unsafe<unknown>({ description });
/** Parameters with one description. */
function all(description: string, ...names: string[]) {
  const entries = names.map((name) => [name, Type.Optional(anything(description))]);
  return Object.fromEntries(entries) as Record<string, TSchema>;
}

const applied = 'Accepted and not applied: the settings of the agent apply.';
const harmless = 'Accepted with values that do not change the answer; otherwise 400.';

const common = {
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Stored in the record.' }),
  ),
  user: Type.Optional(Type.String({ description: 'End user that the call is for.' })),
  safety_identifier: Type.Optional(Type.String({ description: 'Instead of `user`.' })),
  tool_choice: Type.Optional(Type.Unsafe<unknown>({ description: 'Needs `tools`.' })),
};

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const model = Type.String({ description: 'Identifier, slug or alias of an agent.' });

const OpenAIResponse = open('OpenAIResponse', {
  id: Type.String({ description: 'Identifier of the execution.' }),
  object: oneOf(['response']),
  created_at: Type.Integer({ description: 'Seconds since 1970.' }),
  status: oneOf(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  error: anything('`code` is the error code of the execution. `null` unless `failed`.'),
  model: Type.String({ description: 'The agent.' }),
  output: Type.Array(anything('Reasoning, a message or a function call.')),
  usage: anything('Tokens. `null` while in progress.'),
});

const ChatCompletion = open('ChatCompletion', {
  id: Type.String({ description: 'Identifier of the execution.' }),
  object: oneOf(['chat.completion']),
  created: Type.Integer({ description: 'Seconds since 1970.' }),
  model: Type.String({ description: 'The agent.' }),
  choices: Type.Array(anything('The only choice.')),
  usage: anything('Tokens.'),
});

const OpenAIModel = open('OpenAIModel', {
  id: Type.String({
    description: 'Slug of the agent; its identifier or alias if asked for by that.',
  }),
  object: oneOf(['model']),
  created: Type.Integer({ description: 'Seconds since 1970.' }),
  owned_by: Type.String(),
});

const call = {
  method: 'POST',
  tag,
  auth: 'execute',
  session: null,
  headers: idempotency,
  responseHeaders: ['RateLimit', 'Idempotent-Replayed'],
  produces: ['application/json', 'text/event-stream'],
} as const;

const refusals = openaiProblems(400, 401, 403, 404, 413, 415, 422, 429, 500, 503);

export const createResponse = endpoint({
  ...call,
  id: 'createResponse',
  path: '/v1/responses',
  summary: 'Call an agent as OpenAI’s Responses API does',
  description:
    'Like Execute, and waits for the end. A failed execution is 200 with `status: "failed"`. With `background`, the response is immediate; with `stream`, it is a stream of events. A client that disconnects cancels the execution, unless it runs in the background or the call has an `Idempotency-Key`. Parameters that would change the answer and are not supported return 400 `unsupported_parameter`; settings of the model are those of the agent.',
  body: body('OpenAIResponseRequest', {
    model: Type.Optional(model),
    input: Type.Optional(anything('A text or a list of items.')),
    prompt: Type.Optional(
      anything('`{id, version?, variables?}`: an agent or its prompt, and variables.'),
    ),
    instructions: Type.Optional(anything('Needs the agent’s `allowInstructions`.')),
    tools: Type.Optional(anything('Function tools. Needs the agent’s `allowTools`.')),
    text: Type.Optional(anything('`format`: of an agent without a response format.')),
    stream: flag('Sends events.'),
    background: flag('Responds immediately.'),
    ...common,
    ...all(
      harmless,
      ...['parallel_tool_calls', 'include', 'truncation', 'previous_response_id', 'conversation'],
      ...['top_logprobs', 'access_programs', 'context_management', 'image', 'moderation'],
      'prompt_cache_options',
    ),
    ...all(
      applied,
      ...['stream_options', 'store', 'temperature', 'top_p', 'max_output_tokens'],
      ...['max_tool_calls', 'reasoning', 'service_tier', 'prompt_cache_key'],
      ...['prompt_cache_retention', 'presence_penalty', 'frequency_penalty', 'background_options'],
    ),
  }),
  responses: { 200: OpenAIResponse, ...refusals },
});

const ofResponse = { tag, auth: 'read', session: null, ownPermission: 'execute' } as const;

export const getResponse = endpoint({
  ...ofResponse,
  id: 'getResponse',
  method: 'GET',
  path: '/v1/responses/{responseId}',
  summary: 'Get a response',
  description:
    'The response of an execution, in every state. A key with `execute` can get those that it started.',
  unlimited: true,
  query: openQuery({
    stream: flag('Sends events, even after the end.'),
    starting_after: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Only events after this `sequence_number`.' }),
    ),
    include: Type.Optional(anything('Ignored.')),
    'include[]': Type.Optional(anything('Ignored.')),
    include_obfuscation: flag('Ignored.'),
  }),
  produces: ['application/json', 'text/event-stream'],
  responses: { 200: OpenAIResponse, ...openaiProblems(400, 401, 403, 404, 500, 503) },
});

export const cancelResponse = endpoint({
  ...ofResponse,
  auth: 'cancel',
  id: 'cancelResponse',
  method: 'POST',
  path: '/v1/responses/{responseId}/cancel',
  summary: 'Cancel a response',
  query: anyQuery,
  description:
    'Returns the response as it is, if it has ended. A key with `execute` can cancel those that it started.',
  unlimited: true,
  responses: { 200: OpenAIResponse, ...openaiProblems(400, 401, 403, 404, 413, 415, 500, 503) },
});

export const deleteResponse = endpoint({
  tag,
  auth: 'manage',
  session: null,
  id: 'deleteResponse',
  method: 'DELETE',
  path: '/v1/responses/{responseId}',
  summary: 'Delete a response',
  query: anyQuery,
  description: 'Deletes the record of the execution. Returns 409 while it is in progress.',
  responses: {
    200: open('OpenAIDeleted', { id: Type.String(), deleted: Type.Boolean() }),
    ...openaiProblems(400, 401, 403, 404, 409, 500, 503),
  },
});

export const listResponseInputItems = endpoint({
  ...ofResponse,
  id: 'listResponseInputItems',
  method: 'GET',
  path: '/v1/responses/{responseId}/input_items',
  summary: 'List the input items of a response',
  description:
    'What the caller sent: the messages of the conversation or the variable. Takes `read`: a key without it sees no input.',
  unlimited: true,
  query: openQuery({
    limit: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: limits.pageMax, default: 20 },
        description: 'The number of items.',
      }),
    ),
    order: Type.Optional(oneOf(['asc', 'desc'], 'Default: `desc`.')),
    after: Type.Optional(Type.String({ description: 'Only items after the item with this `id`.' })),
    include: Type.Optional(anything('Ignored.')),
    'include[]': Type.Optional(anything('Ignored.')),
  }),
  responses: {
    200: open('OpenAIInputItems', {
      data: Type.Array(anything('An item.')),
      has_more: Type.Boolean(),
    }),
    ...openaiProblems(400, 401, 403, 404, 500, 503),
  },
});

export const createChatCompletion = endpoint({
  ...call,
  id: 'createChatCompletion',
  path: '/v1/chat/completions',
  summary: 'Call an agent as OpenAI’s Chat Completions API does',
  description:
    'Like `POST /v1/responses`, with messages. A failed execution is 502, or 504 after a timeout, with `x-should-retry: false`.',
  body: body('ChatCompletionRequest', {
    model,
    messages: Type.Array(anything('A message.'), {
      examples: [[{ role: 'user', content: 'Explain tides.' }]],
    }),
    tools: Type.Optional(anything('Function tools. Needs the agent’s `allowTools`.')),
    response_format: Type.Optional(anything('Of an agent without a response format.')),
    stream: flag('Sends chunks.'),
    stream_options: Type.Optional(anything('`include_usage`.')),
    ...common,
    ...all(
      harmless,
      ...['parallel_tool_calls', 'n', 'logprobs', 'top_logprobs', 'modalities', 'audio'],
      ...['functions', 'function_call', 'web_search_options', 'moderation', 'prompt_cache_options'],
    ),
    ...all(
      applied,
      ...['store', 'temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'logit_bias'],
      ...['presence_penalty', 'frequency_penalty', 'seed', 'stop', 'reasoning_effort', 'verbosity'],
      ...['service_tier', 'prediction', 'prompt_cache_key', 'prompt_cache_retention'],
    ),
  }),
  responses: { 200: ChatCompletion, ...refusals, ...openaiProblems(502, 504) },
});

const models = { tag, method: 'GET', auth: 'execute', session: null } as const;

export const listModels = endpoint({
  ...models,
  id: 'listModels',
  path: '/v1/models',
  summary: 'List agents as models',
  query: anyQuery,
  description: `The agents that the key can call, by slug; at most ${limits.modelsListMax}.`,
  responses: {
    200: open('OpenAIModelList', { object: oneOf(['list']), data: Type.Array(OpenAIModel) }),
    ...openaiProblems(400, 401, 403, 500, 503),
    429: OpenAIProblem,
  },
  responseHeaders: ['RateLimit'],
});

export const getModel = endpoint({
  ...models,
  id: 'getModel',
  path: '/v1/models/{model}',
  summary: 'Get an agent as a model',
  query: anyQuery,
  unlimited: true,
  responses: { 200: OpenAIModel, ...openaiProblems(400, 401, 403, 404, 500, 503) },
});
