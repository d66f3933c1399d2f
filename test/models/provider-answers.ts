import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Step } from '../../harness/fake-provider.ts';
import type { ExecutionErrorCode } from '../../src/core/failure.ts';
import type { AnswerDetails, ModelCall } from '../../src/core/model/model-port.ts';
import type { ProviderKind } from '../../src/core/model/provider.ts';

/**
 * How real providers and gateways respond, one named case per row, and what must become of it. Their error texts are in
 * `provider-errors.ts`. One case needs Azure's own address and is in `azure.test.ts`: `resp_azure_deepseek`, a model that is
 * only in chat completions.
 */
export interface ProviderAnswer {
  /** The responses of the provider, in order: all of them are requested, and no more. */
  readonly steps: readonly Step[];
  /** `openai-compatible` by default. */
  readonly kind?: ProviderKind;
  readonly call?: Partial<ModelCall>;
  /** False for a workspace without a price. */
  readonly priced?: false;
  /** What must have been sent. */
  readonly sent?: readonly [read: (requests: readonly SentRequest[]) => unknown, expected: unknown];
  readonly is: Success | Failure;
}

export interface SentRequest {
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: cases read any field
  readonly body: any;
}

interface Common {
  /** Input and output tokens; null: unknown, and so is the cost. Not checked if left out. */
  readonly tokens?: readonly [number, number] | null;
  readonly usd?: string;
  readonly costSource?: 'workspace' | 'provider';
  readonly details?: Partial<AnswerDetails>;
}

interface Success extends Common {
  /** `Hello.` by default. */
  readonly text?: string;
  /** `stop` by default. */
  readonly finish?: string;
  readonly settingsNotApplied?: readonly string[];
}

interface Failure extends Common {
  readonly code: ExecutionErrorCode;
  /** `retry` consumes an attempt, `wait` does not. */
  readonly after: 'end' | 'retry' | 'wait';
  /** How long the next call waits, in milliseconds: exactly, or at most if it depends on the clock. */
  readonly waitMs?: number | { readonly atMost: number };
  readonly finish?: string;
  /** A part of the message. */
  readonly message?: string;
  /** Whether the provider may have charged for the call. */
  readonly costKnown?: boolean;
}

const counted: unknown = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

function completion(choice: object = {}, message: object = {}, usage: unknown = counted) {
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_764_000_000, model: 'm' },
    choices: [
      {
        ...{ index: 0, finish_reason: 'stop', logprobs: null },
        message: { role: 'assistant', content: 'Hello.', ...message },
        ...choice,
      },
    ],
    usage,
  };
}

const ok = (body: object | string = completion()): Step => ({ status: 200, body });
const chat = (...args: Parameters<typeof completion>) => [ok(completion(...args))];
const usage = (given: unknown) => chat({}, {}, given);
const finished = (reason: string | null, message: object = {}) =>
  chat({ finish_reason: reason }, message);
const error = (status: number, body: object | string, headers = {}): Step => ({
  ...{ status, body, headers },
});
const openAIError = (status: number, message: string, more: object = {}) =>
  error(status, {
    error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
  });
const json = { 'content-type': 'application/json' };
const raw = (body: string | Buffer, headers: Record<string, string> = json): Step => ({
  ...{ status: 200, body, headers },
});
const whole = JSON.stringify(completion());
const page = { 'content-type': 'text/html' };

const events = (...chunks: object[]) =>
  `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
const delta = (fields: object, finish_reason: string | null = null) => ({
  ...{ id: 'a', object: 'chat.completion.chunk' },
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const streamed = (more: object = {}) =>
  raw(events(delta({ role: 'assistant', content: 'Hello.' }), { ...delta({}, 'stop'), ...more }), {
    'content-type': 'text/event-stream',
  });

const anthropic = (content: object[], more: object = {}) =>
  ok({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content },
    ...{ stop_reason: 'end_turn', usage: { input_tokens: 10, output_tokens: 5 } },
    ...more,
  });
const google = (candidate: object | null, counts: object = {}, more: object = {}) =>
  ok({
    ...(candidate && { candidates: [{ finishReason: 'STOP', index: 0, ...candidate }] }),
    usageMetadata: { promptTokenCount: 10, ...counts },
    ...more,
  });
const responses = (content: object[], more: object = {}) =>
  ok({
    ...{ id: 'resp_1', object: 'response', created_at: 1_764_000_000, status: 'completed' },
    ...{ error: null, incomplete_details: null, model: 'm' },
    output: [{ type: 'message', id: 'm', status: 'completed', role: 'assistant', content }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    ...more,
  });
const said = (text: string) => ({ type: 'output_text', annotations: [], text });
const noChat = error(404, { error: { message: 'not here: /v1/chat/completions' } });
const bedrock = (text: string, stopReason = 'end_turn') =>
  ok({
    output: { message: { role: 'assistant', content: [{ text }] } },
    ...{ stopReason, usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } },
  });

const empty = (more: Partial<Failure> = {}): Failure => ({
  ...{ code: 'EMPTY_OUTPUT', after: 'retry' },
  ...more,
});
const refused = (refusalText: string | null, more: Partial<Failure> = {}): Failure => ({
  ...{ code: 'CONTENT_FILTERED', after: 'end', details: { refusalText } },
  ...more,
});
const ended = (code: ExecutionErrorCode, more: Partial<Failure> = {}): Failure => ({
  ...{ code, after: 'end' },
  ...more,
});
const retried = (more: Partial<Failure> = {}): Failure => ({
  ...{ code: 'PROVIDER_ERROR', after: 'retry' },
  ...more,
});
const limited = (waitMs: Failure['waitMs']): Failure => ({
  ...{ code: 'PROVIDER_RATE_LIMITED', after: 'wait' },
  ...(waitMs !== undefined && { waitMs }),
});
const notApplied = (...settingsNotApplied: string[]): Success => ({ settingsNotApplied });

/** Far enough in the future that no pause of the machine passes it, and no step of its clock doubles it. */
const laterMs = 600_000;
const later = () => new Date(Date.now() + laterMs);
const inTime = { atMost: 2 * laterMs };
const limit = (headers: Record<string, string>) => [
  error(
    429,
    { error: { message: 'Too many', type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
    headers,
  ),
];
const hourMs = 3_600_000;

const roles = (requests: readonly SentRequest[]) =>
  requests.map(({ body }) => body.messages.map(({ role }: { role: string }) => role));

const settings = { system: 'Be brief.', temperature: 0.2, maxTokens: 9 };
const maxTokensText =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
const temperatureText =
  "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.";
const deprecated = openAIError(
  400,
  'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: {\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"`temperature` is deprecated for this model.\\"}}"}. Received Model Group=claude-opus-4-7',
  { code: '400' },
);

export const providerAnswers: Readonly<Record<string, ProviderAnswer>> = {
  // Parameters that a model rejects.
  reasoner: {
    call: settings,
    steps: [
      openAIError(400, maxTokensText, { param: 'max_tokens', code: 'unsupported_parameter' }),
      openAIError(400, temperatureText, { param: 'temperature', code: 'unsupported_value' }),
      ...usage({
        ...{ prompt_tokens: 12, completion_tokens: 205, total_tokens: 217 },
        completion_tokens_details: { reasoning_tokens: 200 },
      }),
    ],
    sent: [
      (requests) => requests.map(({ body }) => [body.max_completion_tokens, body.temperature]),
      [
        [undefined, 0.2],
        [9, 0.2],
        [9, undefined],
      ],
    ],
    is: {
      ...{ tokens: [12, 205], details: { reasoningTokens: 200 } },
      ...notApplied('temperature'),
    },
  },
  opus47: { call: settings, steps: [deprecated, ok()], is: notApplied('temperature') },
  'opus47, with both settings': {
    call: { ...settings, topP: 0.5 },
    steps: [deprecated, deprecated, ok()],
    is: notApplied('temperature', 'topP'),
  },
  nosystem: {
    call: settings,
    steps: [
      error(400, {
        ...{ object: 'error', message: 'System role not supported' },
        ...{ type: 'BadRequestError', param: null, code: 400 },
      }),
      ok(),
    ],
    sent: [roles, [['system', 'user'], ['user']]],
    is: {},
  },
  nodeveloper: {
    kind: 'openai',
    call: { system: 'Be brief.', model: 'fake/gpt-5' },
    steps: [
      error(400, {
        object: 'error',
        message:
          "[{'type': 'value_error', 'loc': ('body', 'messages', 0), 'msg': 'Value error, Unexpected role: developer'}]",
        ...{ type: 'BadRequestError', param: null, code: 400 },
      }),
      ok(),
    ],
    sent: [
      roles,
      [
        ['developer', 'user'],
        ['system', 'user'],
      ],
    ],
    is: {},
  },
  echo: { call: { system: '' }, steps: chat(), sent: [roles, [['user']]], is: {} },

  // Shapes of the content.
  parts: {
    steps: chat(
      {},
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Fast.' }], closed: true },
          { type: 'text', text: 'They meet after 2 hours.' },
        ],
      },
    ),
    is: { text: 'They meet after 2 hours.', details: { reasoningText: 'Fast.' } },
  },
  partsref: {
    steps: chat(
      {},
      {
        content: [
          { type: 'text', text: 'Paris' },
          { type: 'reference', reference_ids: [1] },
          { type: 'text', text: ' is it.' },
        ],
      },
    ),
    is: { text: 'Paris is it.' },
  },
  reasononly: {
    steps: chat(
      {},
      { content: '', reasoning_content: 'It is 42 because …' },
      { prompt_tokens: 12, completion_tokens: 900, total_tokens: 912 },
    ),
    is: empty({ tokens: [12, 900], details: { reasoningText: 'It is 42 because …' } }),
  },
  reasonnull: {
    steps: chat(
      { finish_reason: 'length' },
      { content: null, reasoning: 'Thinking …' },
      {
        ...{ prompt_tokens: 12, completion_tokens: 100, total_tokens: 112 },
        completion_tokens_details: { reasoning_tokens: 100 },
      },
    ),
    is: empty({
      ...{ finish: 'length', tokens: [12, 100] },
      details: { reasoningText: 'Thinking …', reasoningTokens: 100 },
    }),
  },
  think: {
    steps: chat({}, { content: '<think>\nThe user wants JSON.\n</think>\n\n{"a":1}' }),
    is: { text: '{"a":1}', details: { reasoningText: 'The user wants JSON.' } },
  },
  emptystop: {
    steps: chat({}, { content: '' }, { prompt_tokens: 12, completion_tokens: 0, total_tokens: 12 }),
    is: empty({ tokens: [12, 0] }),
  },
  refusal: { steps: chat({}, { content: null, refusal: 'No.' }), is: refused('No.') },
  refusalempty: { steps: chat({}, { content: '', refusal: 'No.' }), is: refused('No.') },
  toolcall: {
    steps: finished('tool_calls', {
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } }],
    }),
    is: empty({ finish: 'tool-calls' }),
  },
  citations: {
    steps: [
      ok({
        ...completion({}, { content: 'Paris[1].' }),
        citations: ['https://example.com/a'],
        search_results: [{ title: 'A', url: 'https://example.com/a' }],
      }),
    ],
    is: { text: 'Paris[1].' },
  },
  nochoices: { steps: [ok({ ...completion(), choices: [] })], is: empty() },
  textchoice: {
    steps: [
      ok({
        ...{ id: 'x', object: 'text_completion' },
        choices: [{ text: 'Hello.', finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    ],
    is: { tokens: [1, 1] },
  },
  rolemodel: { steps: chat({}, { role: 'model' }), is: {} },
  createdstr: { steps: [ok({ ...completion(), created: '2025-11-25T00:00:00Z' })], is: {} },

  // Finish reasons.
  fin_null: { steps: finished(null), is: { finish: 'other' } },
  fin_eos: { steps: finished('eos'), is: {} },
  fin_STOP: { steps: finished('STOP'), is: {} },
  fin_MAX: { steps: finished('MAX_TOKENS'), is: { finish: 'length' } },
  fin_max_output: { steps: finished('max_output_tokens'), is: { finish: 'length' } },
  'fin_max_output, without a text': {
    steps: finished('max_output_tokens', { content: '' }),
    is: empty({ finish: 'length' }),
  },
  fin_abort: { steps: finished('abort'), is: { finish: 'other' } },
  fin_unknown: { steps: finished('unknown'), is: { finish: 'other' } },
  fin_repetition: { steps: finished('repetition'), is: { finish: 'other' } },
  fin_pause: { steps: finished('pause_turn'), is: { finish: 'other' } },
  fin_refusal: { steps: finished('refusal'), is: refused('Hello.') },
  fin_SAFETY: { steps: finished('SAFETY'), is: refused('Hello.') },
  fin_guardrail: { steps: finished('guardrail_intervened'), is: refused('Hello.') },
  fin_error_empty: { steps: finished('error', { content: '' }), is: retried() },

  // Tokens and cost. A million tokens cost 1 and 2 dollars; cached ones 0.1, and 1.25 to write.
  use_none: { steps: [ok({ ...completion(), usage: undefined })], is: { tokens: null } },
  use_null: { steps: usage(null), is: { tokens: null } },
  use_partial: { steps: usage({ prompt_tokens: 12 }), is: { tokens: null } },
  use_total: { steps: usage({ total_tokens: 17 }), is: { tokens: null } },
  use_zero: {
    steps: usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
    is: { tokens: null },
  },
  use_neg: {
    steps: usage({ prompt_tokens: -1, completion_tokens: 5, total_tokens: 4 }),
    is: { tokens: null },
  },
  use_float: { steps: usage({ prompt_tokens: 1.5, completion_tokens: 5 }), is: { tokens: null } },
  use_inputtokens: {
    steps: usage({ input_tokens: 12, output_tokens: 5 }),
    is: { tokens: [12, 5], usd: '0.000022' },
  },
  use_xai: {
    steps: usage({
      ...{ prompt_tokens: 12, completion_tokens: 5, total_tokens: 317 },
      completion_tokens_details: { reasoning_tokens: 300 },
    }),
    is: { tokens: [12, 305], usd: '0.000622', details: { reasoningTokens: 300 } },
  },
  use_openai_cache: {
    steps: usage({
      ...{ prompt_tokens: 1_000, completion_tokens: 5, total_tokens: 1_005 },
      prompt_tokens_details: { cached_tokens: 900 },
    }),
    is: { tokens: [1_000, 5], usd: '0.0002' },
  },
  use_deepseek: {
    steps: usage({
      ...{ prompt_tokens: 1_000, completion_tokens: 5, total_tokens: 1_005 },
      ...{ prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100 },
    }),
    is: { tokens: [1_000, 5], usd: '0.0002' },
  },
  use_kimi: {
    steps: usage({
      ...{ prompt_tokens: 1_000, completion_tokens: 5, total_tokens: 1_005, cached_tokens: 900 },
    }),
    is: { tokens: [1_000, 5], usd: '0.0002' },
  },
  use_litellm_anthropic: {
    steps: usage({
      ...{ prompt_tokens: 2_000, completion_tokens: 5, total_tokens: 2_005 },
      prompt_tokens_details: { cached_tokens: 900, cache_creation_tokens: 1_000 },
      ...{ cache_creation_input_tokens: 1_000, cache_read_input_tokens: 900 },
    }),
    is: { tokens: [2_000, 5], usd: '0.00145' },
  },
  use_openrouter_cost: {
    priced: false,
    steps: usage({ ...Object(counted), cost: 0.00123 }),
    is: { tokens: [12, 5], usd: '0.00123', costSource: 'provider' },
  },
  'use_openrouter_cost, with a price': {
    steps: usage({ ...Object(counted), cost: 0.00123 }),
    is: { tokens: [12, 5], usd: '0.000022', costSource: 'workspace' },
  },

  // Content filters.
  azure_filter400: {
    steps: [
      openAIError(
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        {
          ...{ type: null, param: 'prompt', code: 'content_filter', status: 400 },
          innererror: {
            code: 'ResponsibleAIPolicyViolation',
            content_filter_result: { jailbreak: { filtered: true, detected: true } },
          },
        },
      ),
    ],
    is: refused(null),
  },
  azure_filter200: {
    steps: chat(
      {
        finish_reason: 'content_filter',
        content_filter_results: { hate: { filtered: true, severity: 'high' } },
      },
      { content: '' },
    ),
    is: refused(null, { tokens: [12, 5] }),
  },
  azure_filter_nomsg: {
    steps: [
      ok({
        ...completion(),
        choices: [
          {
            ...{ index: 0, finish_reason: 'content_filter', logprobs: null },
            content_filter_results: { hate: { filtered: true } },
          },
        ],
      }),
    ],
    is: refused(null, { tokens: [12, 5] }),
  },

  // An error with status 200.
  e200_429: {
    steps: [
      ok({
        error: {
          ...{ message: 'Rate limit exceeded: free-models-per-min.', code: 429 },
          metadata: {
            headers: {
              ...{ 'X-RateLimit-Limit': '20', 'X-RateLimit-Remaining': '0' },
              'X-RateLimit-Reset': String(later().getTime()),
            },
          },
        },
        user_id: 'u',
      }),
    ],
    is: limited(inTime),
  },
  e200_502: {
    steps: [
      ok({
        error: {
          ...{ message: 'Provider returned error', code: 502 },
          metadata: { provider_name: 'X', raw: 'upstream' },
        },
        user_id: 'u',
      }),
    ],
    is: retried({ costKnown: false }),
  },
  e200_lmstudio: {
    steps: [ok({ error: 'Unexpected endpoint or method. (POST /chat/completions)' })],
    is: ended('PROVIDER_ERROR', { message: 'Is the base URL right?' }),
  },
  e200_html: {
    steps: [raw('<!DOCTYPE html><html><title>Sign in</title></html>', page)],
    is: ended('PROVIDER_ERROR', { message: 'Is the base URL right?' }),
  },
  e200_empty: {
    steps: [raw('')],
    is: ended('PROVIDER_ERROR', { message: 'Is the base URL right?' }),
  },
  e200_code: {
    steps: [ok({ code: 1113, msg: 'Insufficient balance', success: false })],
    is: ended('PROVIDER_QUOTA'),
  },

  // Statuses.
  html502: {
    steps: [error(502, '<html><head><title>502 Bad Gateway</title></head></html>', page)],
    is: retried({ costKnown: false }),
  },
  cf524: {
    steps: [error(524, '<html>524: A timeout occurred</html>', page)],
    is: retried({ costKnown: false }),
  },
  gateway: {
    steps: [error(524, '<html>error code: 524</html>', page)],
    is: retried({ costKnown: false }),
  },
  s499: {
    steps: [
      error(499, {
        error: { code: 499, message: 'The operation was cancelled.', status: 'CANCELLED' },
      }),
    ],
    is: retried(),
  },
  s402: {
    steps: [error(402, { error: { message: 'Insufficient credits. Add more', code: 402 } })],
    is: ended('PROVIDER_QUOTA'),
  },
  s402_deepseek: {
    steps: [openAIError(402, 'Insufficient Balance', { type: 'unknown_error' })],
    is: ended('PROVIDER_QUOTA'),
  },
  s400_credit: {
    steps: [
      error(400, {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message:
            'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
        },
      }),
    ],
    is: ended('PROVIDER_QUOTA'),
  },
  s529: {
    steps: [
      error(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ],
    is: retried(),
  },
  s503_loading: {
    steps: [
      error(503, {
        error: { code: 503, message: 'Loading model', type: 'unavailable_error' },
      }),
    ],
    is: retried({ after: 'wait' }),
  },
  s503_tgi: {
    steps: [error(503, { error: 'Model m is currently loading', estimated_time: 20.0 })],
    is: retried({ after: 'wait', waitMs: 20_000 }),
  },
  s422: {
    steps: [
      error(422, {
        detail: [
          {
            ...{ type: 'extra_forbidden', loc: ['body', 'foo'], input: 1 },
            msg: 'Extra inputs are not permitted',
          },
        ],
      }),
    ],
    is: ended('PROVIDER_ERROR'),
  },
  s307: {
    steps: [error(307, '', { location: '/v1/chat/completions/' })],
    is: ended('PROVIDER_ERROR'),
  },
  s404_ollama: {
    steps: [openAIError(404, 'model "llama9" not found, try pulling it first')],
    is: ended('MODEL_NOT_FOUND'),
  },
  s404_plain: {
    steps: [error(404, '404 page not found')],
    is: ended('PROVIDER_ERROR', { message: 'Is the base URL right?' }),
  },
  s400_streamonly: {
    steps: [
      openAIError(
        400,
        'This model only support stream mode, please enable the stream parameter to access the model. ',
        { code: 'invalid_parameter_error' },
      ),
      streamed(),
    ],
    sent: [(requests) => requests.map(({ body }) => body.stream === true), [false, true]],
    is: { tokens: null },
  },
  alwaysstream: {
    steps: [streamed({ usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })],
    is: { tokens: [1, 1] },
  },

  // Rate limits.
  r429_none: {
    steps: [
      openAIError(
        429,
        'Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 6s.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    ],
    is: limited(6_000),
  },
  r429_float: { steps: limit({ 'retry-after': '2.5' }), is: limited(2_500) },
  r429_date: { steps: limit({ 'retry-after': later().toUTCString() }), is: limited(inTime) },
  r429_iso: { steps: limit({ 'retry-after': later().toISOString() }), is: limited(inTime) },
  r429_suffix: { steps: limit({ 'retry-after': '3s' }), is: limited(3_000) },
  r429_ms: { steps: limit({ 'retry-after-ms': '2500' }), is: limited(2_500) },
  r429_xms: { steps: limit({ 'x-ms-retry-after-ms': '2500' }), is: limited(2_500) },
  r429_groq: {
    steps: limit({
      ...{ 'x-ratelimit-reset-requests': '2.9s', 'x-ratelimit-reset-tokens': '1m2.9s' },
      'x-ratelimit-remaining-requests': '0',
    }),
    is: limited(2_900),
  },
  r429_openrouter: {
    steps: limit({
      'x-ratelimit-reset': String(later().getTime()),
      'x-ratelimit-remaining': '0',
    }),
    is: limited(inTime),
  },
  r429_anthropic: {
    steps: limit({ 'anthropic-ratelimit-requests-reset': later().toISOString() }),
    is: limited(inTime),
  },
  r429_epoch: {
    steps: limit({ 'retry-after': String(Math.floor(later().getTime() / 1_000)) }),
    is: limited(inTime),
  },
  r429_zero: { steps: limit({ 'retry-after': '0' }), is: limited(0) },
  r429_neg: { steps: limit({ 'retry-after': '-1' }), is: limited(0) },
  r429_huge: { steps: limit({ 'retry-after': '86400' }), is: limited(hourMs) },
  r429_body: {
    steps: [
      error(429, {
        error: {
          message: 'Rate limit reached … Please try again in 3s.',
          ...{ type: 'tokens', code: 'rate_limit_exceeded' },
        },
      }),
    ],
    is: limited(3_000),
  },

  // Bodies.
  blank: { steps: [{ chunks: ['\n', '\n', '\n', whole], headers: json }], is: {} },
  comments: { steps: [{ chunks: [': PROCESSING\n\n', whole], headers: json }], is: {} },
  drip: { steps: [{ chunks: whole.match(/.{1,20}/gs) ?? [], headers: json }], is: {} },
  gzip: { steps: [raw(gzipSync(whole), { ...json, 'content-encoding': 'gzip' })], is: {} },
  br: { steps: [raw(brotliCompressSync(whole), { ...json, 'content-encoding': 'br' })], is: {} },
  gzip_err: {
    steps: [
      {
        status: 400,
        body: gzipSync(
          JSON.stringify({
            error: {
              message: "This model's maximum context length is 8192 tokens.",
              code: 'context_length_exceeded',
            },
          }),
        ),
        headers: { ...json, 'content-encoding': 'gzip' },
      },
    ],
    is: ended('CONTEXT_LENGTH'),
  },
  encutf8: { steps: [raw(whole, { ...json, 'content-encoding': 'UTF-8' })], is: {} },
  bom: { steps: [raw(`\u{feff}${whole}`)], is: {} },
  textplain: { steps: [raw(whole, { 'content-type': 'text/plain' })], is: {} },
  octet: { steps: [raw(whole, { 'content-type': 'application/octet-stream' })], is: {} },
  ctl: {
    steps: [raw(whole.replace('Hello.', 'line one\nline two'))],
    is: { text: 'line one\nline two' },
  },
  proto: {
    steps: chat({}, { content: '{"__proto__": {"a":1}}' }),
    is: { text: '{"__proto__": {"a":1}}' },
  },
  trunc: { steps: [{ half: 'reset' }], is: retried({ costKnown: false }) },

  // Anthropic.
  ant: {
    kind: 'anthropic',
    call: { system: '' },
    steps: [anthropic([{ type: 'text', text: 'Hello.' }])],
    sent: [([request]) => [request?.body.system, request?.body.messages.length], [undefined, 1]],
    is: { tokens: [10, 5] },
  },
  ant_refusal: {
    kind: 'anthropic',
    steps: [anthropic([], { stop_reason: 'refusal' })],
    is: refused(null, { tokens: [10, 5] }),
  },
  ant_cache: {
    kind: 'anthropic',
    steps: [
      anthropic(
        [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'Hello.' },
        ],
        {
          usage: {
            ...{ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 900 },
            cache_creation_input_tokens: 100,
            cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 },
          },
        },
      ),
    ],
    is: { tokens: [1_010, 5], usd: '0.000235', details: { reasoningText: 'hm' } },
  },
  ant_ctx: {
    kind: 'anthropic',
    steps: [
      anthropic([{ type: 'text', text: 'cut' }], {
        stop_reason: 'model_context_window_exceeded',
      }),
    ],
    is: { text: 'cut', finish: 'length' },
  },

  // Google.
  gem_block: {
    kind: 'google',
    steps: [
      google(
        null,
        { totalTokenCount: 10 },
        {
          promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        },
      ),
    ],
    is: refused(null),
  },
  gem_max: {
    kind: 'google',
    steps: [
      google(
        { content: { role: 'model' }, finishReason: 'MAX_TOKENS' },
        { totalTokenCount: 109, thoughtsTokenCount: 99 },
      ),
    ],
    is: empty({ finish: 'length', tokens: [10, 99], details: { reasoningTokens: 99 } }),
  },
  'gem_max, with a text': {
    kind: 'google',
    steps: [
      google(
        { content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'MAX_TOKENS' },
        { candidatesTokenCount: 2 },
      ),
    ],
    is: { finish: 'length', tokens: [10, 2] },
  },
  gem_nocontent: {
    kind: 'google',
    steps: [google({ finishReason: 'RECITATION' }, { totalTokenCount: 10 })],
    is: refused(null),
  },
  gem_empty: {
    kind: 'google',
    steps: [google({ content: {} }, { totalTokenCount: 10 })],
    is: empty(),
  },
  gem_thought: {
    kind: 'google',
    steps: [
      google(
        {
          content: {
            role: 'model',
            parts: [{ text: 'I think', thought: true }, { text: 'Paris' }],
          },
        },
        { candidatesTokenCount: 2, thoughtsTokenCount: 50, totalTokenCount: 62 },
      ),
    ],
    is: {
      ...{ text: 'Paris', tokens: [10, 52] },
      details: { reasoningText: 'I think', reasoningTokens: 50 },
    },
  },
  gem_echo: {
    kind: 'google',
    call: { system: '' },
    steps: [
      google(
        { content: { role: 'model', parts: [{ text: 'Hello.' }] } },
        { candidatesTokenCount: 2, totalTokenCount: 12 },
      ),
    ],
    sent: [
      ([request]) => [request?.body.systemInstruction, request?.body.contents.length],
      [undefined, 1],
    ],
    is: { tokens: [10, 2] },
  },
  gem_429day: {
    kind: 'google',
    steps: [
      error(429, {
        error: {
          ...{ code: 429, status: 'RESOURCE_EXHAUSTED' },
          message:
            'You exceeded your current quota, please check your plan and billing details.\nPlease retry in 41.5s.',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
              violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
            },
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '41s' },
          ],
        },
      }),
    ],
    is: ended('PROVIDER_QUOTA'),
  },
  gem_malformed: {
    kind: 'google',
    steps: [
      google(
        { content: { role: 'model', parts: [] }, finishReason: 'MALFORMED_FUNCTION_CALL' },
        { totalTokenCount: 10 },
      ),
    ],
    is: empty({ finish: 'other' }),
  },

  // The Responses API.
  resp: {
    kind: 'openai',
    steps: [noChat, responses([said('Hello.')])],
    sent: [
      (requests) => requests.map(({ path }) => path),
      ['/v1/chat/completions', '/v1/responses'],
    ],
    is: { tokens: [10, 5] },
  },
  resp_incomplete: {
    kind: 'openai',
    steps: [
      noChat,
      responses([], {
        ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
        output: [{ type: 'reasoning', id: 'r', summary: [], encrypted_content: 'x' }],
        usage: {
          ...{ input_tokens: 10, output_tokens: 100, total_tokens: 110 },
          output_tokens_details: { reasoning_tokens: 100 },
        },
      }),
    ],
    is: empty({ finish: 'length', tokens: [10, 100], details: { reasoningTokens: 100 } }),
  },
  'resp_incomplete, with a text': {
    kind: 'openai',
    steps: [
      noChat,
      responses([said('Hello.')], {
        ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      }),
    ],
    is: { finish: 'length' },
  },
  resp_refusal: {
    kind: 'openai',
    steps: [noChat, responses([{ type: 'refusal', refusal: 'No.' }])],
    is: refused('No.', { tokens: [10, 5] }),
  },
  resp_azure_temp: {
    kind: 'azure',
    call: settings,
    steps: [
      noChat,
      openAIError(400, "Unsupported parameter: 'temperature' is not supported with this model.", {
        param: 'temperature',
      }),
      responses([said('Hello.')]),
    ],
    is: notApplied('temperature'),
  },

  // Bedrock.
  bed: {
    kind: 'bedrock',
    call: { system: '' },
    steps: [bedrock('Hello.')],
    sent: [([request]) => [request?.body.system ?? [], request?.body.messages.length], [[], 1]],
    is: { tokens: [10, 5] },
  },
  bed_guard: {
    kind: 'bedrock',
    steps: [bedrock('Sorry, blocked.', 'guardrail_intervened')],
    is: refused('Sorry, blocked.', { tokens: [10, 5] }),
  },
  bed_expired: {
    kind: 'bedrock',
    steps: [
      error(
        403,
        { message: 'The security token included in the request is expired' },
        { 'x-amzn-errortype': 'ExpiredTokenException:http://x' },
      ),
    ],
    is: ended('PROVIDER_AUTH'),
  },
};
