import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import type { ProviderSettings } from '../src/models/connection/settings.ts';

/**
 * Providers on a real socket whose models think: they call the tool `look_up`, and answer its result. Like the real ones, in their
 * own words, they refuse results without the reasoning, signatures or fields that came with the call.
 */
export interface ThinkingProvider {
  readonly host: string;
  /** Settings of a provider of each API, by its name. */
  readonly settings: Readonly<Record<ThinkingAPI, ProviderSettings>>;
  /** Every request, refused ones as well, oldest first. */
  readonly requests: readonly { readonly path: string; readonly body: Body }[];
  close(): Promise<void>;
}

export const thinkingAPIs = [
  'anthropic',
  'bedrock',
  'deepseek',
  'gemini',
  'gpt',
  'gateway',
] as const;
export type ThinkingAPI = (typeof thinkingAPIs)[number];

/** What each model is called, by its API. */
export const thinkingModels: Readonly<Record<ThinkingAPI, string>> = {
  anthropic: 'anthropic/claude-sonnet-4-5',
  bedrock: 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
  deepseek: 'deepseek/deepseek-reasoner',
  gemini: 'gemini/gemini-3-pro',
  gpt: 'gpt/gpt-5.2',
  gateway: 'gateway/deepseek-behind',
};

export const thoughts = 'Let me look it up.';
export const answerText = 'It is sunny.';
export const toolName = 'look_up';

// biome-ignore lint/suspicious/noExplicitAny: arbitrary JSON
type Body = any;
type Turn = { readonly id: string; readonly signature: string } | null;

interface API {
  /** Why it refuses a request; null if it does not. */
  readonly refusal: (body: Body) => string | null;
  readonly hasResult: (body: Body) => boolean;
  readonly answer: (turn: Turn, body: Body) => object;
  readonly events: (turn: Turn, body: Body) => readonly object[];
}

export const callIdOf = (number: number) => `call_of_${number}`;
const signatureOf = (id: string) => `signature of ${id}`;

/** @param idOf the id of a call by its number: some servers number the calls of each answer from 0 */
export async function startThinkingProvider(idOf = callIdOf): Promise<ThinkingProvider> {
  const requests: { path: string; body: Body }[] = [];
  let calls = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const path = decodeURIComponent(request.url ?? '');
    requests.push({ path, body });
    const api = apiOf(path, body);
    if (!api) return refuse(response, 404, { error: { message: `Invalid URL (POST ${path})` } });
    const refusal = api.refusal(body);
    if (refusal !== null) return refuse(response, 400, errorOf(path, body, refusal));
    const id = idOf(++calls);
    const turn = api.hasResult(body) ? null : { id, signature: signatureOf(id) };
    if (path.endsWith('/converse-stream')) {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.end(Buffer.concat(api.events(turn, body).map(awsFrame)));
    } else if (body.stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const lines = api.events(turn, body).map((event) => `data: ${JSON.stringify(event)}\n\n`);
      response.end(`${lines.join('')}data: [DONE]\n\n`);
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(api.answer(turn, body)));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const compatible = { kind: 'openai-compatible', baseURL: `http://${host}/v1` } as const;
  const apiKey = 'topsecret-0123456789';
  return {
    host,
    requests,
    settings: {
      anthropic: { name: 'anthropic', kind: 'anthropic', apiKey, baseURL: compatible.baseURL },
      bedrock: {
        name: 'bedrock',
        kind: 'bedrock',
        apiKey: 'ABSK-0123456789',
        baseURL: `http://${host}`,
      },
      deepseek: { name: 'deepseek', apiKey, ...compatible },
      gemini: { name: 'gemini', apiKey, ...compatible },
      gpt: { name: 'gpt', kind: 'openai', apiKey, baseURL: compatible.baseURL },
      // Compatible servers may be behind the kind of their API, too.
      gateway: { name: 'gateway', kind: 'openai', apiKey, baseURL: compatible.baseURL },
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refuse(response: ServerResponse, status: number, error: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(error));
}

function errorOf(path: string, { model }: Body, message: string): unknown {
  const type = 'invalid_request_error';
  if (path.startsWith('/model/'))
    return { message: `The model returned the following errors: ${message}` };
  if (path.endsWith('/messages')) return { type: 'error', error: { type, message } };
  if (String(model).startsWith('gemini')) {
    return [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }];
  }
  return { error: { message, type, param: null, code: type } };
}

function apiOf(path: string, { model }: Body): API | null {
  if (path.endsWith('/messages')) return anthropic;
  if (path.startsWith('/model/')) return bedrock;
  const isGPT = String(model).startsWith('gpt');
  if (path.endsWith('/responses')) return isGPT ? responses : null;
  if (isGPT || !path.endsWith('/chat/completions')) return null;
  return String(model).startsWith('gemini') ? gemini : deepseek;
}

const wantsThinking = (at: string) =>
  `${at}: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking`;

const usage = { input_tokens: 12, output_tokens: 5 };

const anthropic: API = {
  hasResult: ({ messages }) =>
    messages.at(-1).content.some((one: Body) => one.type === 'tool_result'),
  refusal({ messages, thinking }) {
    const at = messages.findLastIndex(({ role }: Body) => role === 'assistant');
    if (at < 0 || !['enabled', 'adaptive'].includes(thinking?.type)) return null;
    const [first, ...others] = messages[at].content;
    const called = others.find((one: Body) => one.type === 'tool_use');
    if (first.type !== 'thinking') return wantsThinking(`messages.${at}.content.0.type`);
    const isValid = first.thinking === thoughts && first.signature === signatureOf(called?.id);
    return isValid ? null : `messages.${at}.content.0: Invalid \`signature\` in \`thinking\` block`;
  },
  answer: (turn) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage },
    stop_reason: turn ? 'tool_use' : 'end_turn',
    content: turn
      ? [
          { type: 'thinking', thinking: thoughts, signature: turn.signature },
          { type: 'tool_use', id: turn.id, name: toolName, input: { city: 'Bern' } },
        ]
      : [{ type: 'text', text: answerText }],
  }),
  events(turn, body) {
    const { content, stop_reason, ...message } = anthropic.answer(turn, body) as Body;
    const deltas: Record<string, (block: Body) => [object, object[]]> = {
      thinking: ({ thinking, signature }) => [
        { type: 'thinking', thinking: '', signature: '' },
        [
          { type: 'thinking_delta', thinking: thinking.slice(0, 5) },
          { type: 'thinking_delta', thinking: thinking.slice(5) },
          { type: 'signature_delta', signature },
        ],
      ],
      tool_use: ({ input, ...block }) => [
        { ...block, input: {} },
        [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
      ],
      text: ({ text }) => [{ type: 'text', text: '' }, [{ type: 'text_delta', text }]],
    };
    return [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      ...content.flatMap((block: Body, index: number) => {
        const [content_block, pieces] = deltas[block.type]?.(block) ?? [{}, []];
        return [
          { type: 'content_block_start', index, content_block },
          ...pieces.map((delta) => ({ type: 'content_block_delta', index, delta })),
          { type: 'content_block_stop', index },
        ];
      }),
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ];
  },
};

const bedrock: API = {
  hasResult: ({ messages }) => messages.at(-1).content.some((one: Body) => one.toolResult),
  refusal({ messages, additionalModelRequestFields: fields }) {
    const at = messages.findLastIndex(({ role }: Body) => role === 'assistant');
    if (at < 0 || fields?.thinking?.type !== 'enabled') return null;
    const [first, ...others] = messages[at].content;
    const { reasoningText } = first.reasoningContent ?? {};
    if (!reasoningText) return wantsThinking(`messages.${at}.content.0.type`);
    const called = others.find((one: Body) => one.toolUse)?.toolUse;
    const isValid =
      reasoningText.text === thoughts && reasoningText.signature === signatureOf(called?.toolUseId);
    return isValid ? null : `messages.${at}.content.0: Invalid \`signature\` in \`thinking\` block`;
  },
  answer: (turn) => ({
    output: {
      message: {
        role: 'assistant',
        content: turn
          ? [
              {
                reasoningContent: { reasoningText: { text: thoughts, signature: turn.signature } },
              },
              { toolUse: { toolUseId: turn.id, name: toolName, input: { city: 'Bern' } } },
            ]
          : [{ text: answerText }],
      },
    },
    stopReason: turn ? 'tool_use' : 'end_turn',
    usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 },
  }),
  events(turn) {
    const delta = (contentBlockIndex: number, one: object) => ({
      contentBlockDelta: { contentBlockIndex, delta: one },
    });
    const input = JSON.stringify({ city: 'Bern' });
    return [
      { messageStart: { role: 'assistant' } },
      ...(turn
        ? [
            delta(0, { reasoningContent: { text: thoughts.slice(0, 5) } }),
            delta(0, { reasoningContent: { text: thoughts.slice(5) } }),
            delta(0, { reasoningContent: { signature: turn.signature } }),
            {
              contentBlockStart: {
                contentBlockIndex: 1,
                start: { toolUse: { toolUseId: turn.id, name: toolName } },
              },
            },
            delta(1, { toolUse: { input } }),
          ]
        : [delta(0, { text: answerText })]),
      { messageStop: { stopReason: turn ? 'tool_use' : 'end_turn' } },
      { metadata: { usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 }, metrics: {} } },
    ];
  },
};

const chatHasResult: API['hasResult'] = ({ messages }) => messages.at(-1).role === 'tool';

function chatOf(extras: (turn: NonNullable<Turn>) => { message: object; call: object }) {
  const messageOf = (turn: Turn) => {
    if (!turn) return { role: 'assistant', content: answerText };
    const { message, call } = extras(turn);
    const called = { name: toolName, arguments: '{"city":"Bern"}' };
    const toolCall = { id: turn.id, type: 'function', function: called, ...call };
    return { role: 'assistant', content: '', ...message, tool_calls: [toolCall] };
  };
  const counts = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
  const finish = (turn: Turn) => (turn ? 'tool_calls' : 'stop');
  const answer: API['answer'] = (turn, { model }) => ({
    ...{ id: 'chat_1', object: 'chat.completion', created: 1, model, usage: counts },
    choices: [{ index: 0, message: messageOf(turn), finish_reason: finish(turn) }],
  });
  const events: API['events'] = (turn) => {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    const { content, tool_calls: calls = [], ...others } = messageOf(turn) as Body;
    return [
      chunk(others),
      ...(content === '' ? [] : [chunk({ content })]),
      ...calls.map((call: object, index: number) => chunk({ tool_calls: [{ index, ...call }] })),
      { ...chunk({}, finish(turn)), usage: counts },
    ];
  };
  return { answer, events };
}

const deepseek: API = {
  hasResult: chatHasResult,
  refusal({ messages, reasoning_effort: effort }) {
    if (effort === 'none') return null;
    const at = messages.findIndex(
      (one: Body) => one.tool_calls && typeof one.reasoning_content !== 'string',
    );
    return at < 0
      ? null
      : `Missing \`reasoning_content\` field in the assistant message at message index ${at}. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls`;
  },
  ...chatOf(() => ({ message: { reasoning_content: thoughts }, call: {} })),
};

const gemini: API = {
  hasResult: chatHasResult,
  refusal({ messages }) {
    const called = messages.flatMap((one: Body) => one.tool_calls?.slice(0, 1) ?? []);
    const isSigned = ({ id, extra_content: extra }: Body) =>
      [signatureOf(id), 'skip_thought_signature_validator'].includes(
        extra?.google?.thought_signature,
      );
    return called.every(isSigned)
      ? null
      : `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${toolName}\` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
  },
  ...chatOf(({ signature }) => ({
    message: {},
    call: { extra_content: { google: { thought_signature: signature } } },
  })),
};

/** Unlike the others, it does without: but what it gets must be its own. */
const responses: API = {
  hasResult: ({ input }) => input.at(-1).type === 'function_call_output',
  refusal({ input }) {
    for (const [index, { type, encrypted_content: encrypted }] of input.entries()) {
      if (type !== 'reasoning') continue;
      const called = input.slice(index).find((one: Body) => one.type === 'function_call');
      if (encrypted === signatureOf(called?.call_id)) continue;
      return 'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.';
    }
    return null;
  },
  answer: (turn, { model }) => ({
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model, error: null },
    ...{ usage: { ...usage, total_tokens: 17 }, incomplete_details: null },
    output: turn
      ? [
          {
            ...{ id: `rs_${turn.id}`, type: 'reasoning', encrypted_content: turn.signature },
            summary: [{ type: 'summary_text', text: thoughts }],
          },
          {
            ...{
              id: `fc_${turn.id}`,
              type: 'function_call',
              call_id: turn.id,
              status: 'completed',
            },
            ...{ name: toolName, arguments: '{"city":"Bern"}' },
          },
        ]
      : [
          {
            ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
            content: [{ type: 'output_text', text: answerText, annotations: [] }],
          },
        ],
  }),
  events(turn, body) {
    const response = responses.answer(turn, body) as Body;
    const begun = { ...response, status: 'in_progress', output: [] };
    const deltas = turn
      ? [{ type: 'response.reasoning_summary_text.delta', delta: thoughts }]
      : [{ type: 'response.output_text.delta', delta: answerText }];
    return [
      { type: 'response.created', response: begun },
      ...deltas,
      { type: 'response.completed', response },
    ];
  },
};

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);

function awsFrame(event: object): Uint8Array {
  const [[type = '', body] = []] = Object.entries(event);
  const header = (value: string) => ({ type: 'string', value }) as const;
  const headers = { ':message-type': header('event'), ':event-type': header(type) };
  return codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) });
}
