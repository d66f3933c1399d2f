import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A model provider on a real socket, compatible with OpenAI and, at `/api/chat`, with Ollama. It records every call and misbehaves like real providers:
 * by the name of the model (`behaviours`), or by a script of steps for the next calls. Use kind `openai-compatible`
 * with `baseURL: provider.url`, and `provider.host` in the allowed hosts.
 */
export interface FakeProvider {
  /** With `/v1`, as a base URL. */
  readonly url: string;
  /** `127.0.0.1:port`, as in `CUELINE_ALLOWED_HOSTS`. */
  readonly host: string;
  readonly calls: readonly FakeCall[];
  /** The number of connections so far. */
  readonly connections: number;
  /** Scripts the next calls, independent of their model. */
  script(...steps: readonly Step[]): void;
  /** Resolves once that many calls have arrived. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface FakeCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly body: any;
  readonly model: string;
  /** The arrival, by the monotonic clock. */
  readonly atMs: number;
  /** The arrival, by the wall clock. */
  readonly epochMs: number;
  /** Resolves when the caller closes the connection before the response. */
  readonly hungUp: Promise<void>;
  /** Whether the caller closed the connection before the response. */
  readonly givenUp: boolean;
}

/** How to respond to a call. */
export type Step =
  /** A completion; without a text, it echoes the last message. */
  | {
      text?: string | null;
      finish?: string;
      usage?: object | null;
      refusal?: string;
      afterMs?: number;
      /** A stream is spread over this time; a plain response follows it. */
      overMs?: number;
    }
  /** A response as given; an object is sent as JSON. */
  | {
      status: number;
      body?: object | string | Buffer;
      headers?: Record<string, string>;
      afterMs?: number;
    }
  /** A response in these pieces, each sent alone; then its end, a reset, or silence. */
  | {
      chunks: readonly (string | Uint8Array)[];
      headers?: Record<string, string>;
      ending?: 'reset' | 'silence';
    }
  /** The headers and half of the completion, then a reset or silence. */
  | { half: 'reset' | 'silence' }
  /** The connection is reset before any response, or never answered. */
  | 'reset'
  | 'hang';

/** Every misbehaviour by model name. Any other name gets a completion. */
export const behaviours: Readonly<Record<string, Step>> = {
  length: { text: 'cut sho', finish: 'length' },
  filtered: { text: 'I would', finish: 'content_filter' },
  refusing: { text: null, refusal: 'I cannot help with that.' },
  'broken-off': { text: 'The first half', finish: 'error' },
  uncounted: { text: 'done', usage: null },
  unauthorized: failing(401, 'Incorrect API key provided.', 'invalid_api_key'),
  forbidden: failing(403, 'Your project has no access.', 'permission_denied'),
  missing: failing(404, 'The model `missing` does not exist.', 'model_not_found'),
  'rate-limited': {
    ...failing(429, 'Rate limit reached for requests.', 'rate_limit_exceeded'),
    headers: { 'retry-after': '7' },
  },
  'long-limited': {
    ...failing(429, 'Rate limit reached for requests.', 'rate_limit_exceeded'),
    headers: { 'retry-after': '60' },
  },
  'no-quota': failing(429, 'You exceeded your current quota.', 'insufficient_quota'),
  'bad-request': failing(400, 'temperature must be at most 2.', 'invalid_value'),
  'too-long': failing(
    400,
    "This model's maximum context length is 8192 tokens.",
    'context_length_exceeded',
  ),
  'content-policy': failing(400, 'The prompt was filtered.', 'content_filter'),
  'server-error': failing(500, 'The server had an error.', 'server_error'),
  unavailable: { status: 503, body: '<html>Service Unavailable</html>' },
  overloaded: failing(529, 'Overloaded', 'overloaded_error'),
  redirect: { status: 307, headers: { location: 'http://127.0.0.1:1/v1/chat/completions' } },
  'broken-json': { status: 200, body: '{"choices": [{"message": {"role": "assi' },
  'no-choices': { status: 200, body: { id: 'x', choices: [] } },
  'mid-reset': { half: 'reset' },
  silence: { half: 'silence' },
  reset: 'reset',
  hang: 'hang',
};

export async function startFakeProvider(): Promise<FakeProvider> {
  const calls: FakeCall[] = [];
  const script: Step[] = [];
  let connections = 0;
  let wake = Promise.withResolvers<void>();

  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const body = await readJson(request).catch(() => null);
    const hungUp = Promise.withResolvers<void>();
    let givenUp = false;
    response.on('close', () => {
      if (response.writableFinished) return;
      givenUp = true;
      hungUp.resolve();
    });
    const model = String(body?.model ?? '');
    const { method = '', url: path = '', headers } = request;
    const [atMs, epochMs] = [performance.now(), Date.now()];
    const number = calls.push({
      method,
      path,
      headers,
      body,
      model,
      atMs,
      epochMs,
      hungUp: hungUp.promise,
      get givenUp() {
        return givenUp;
      },
    });
    wake.resolve();
    wake = Promise.withResolvers();
    const step =
      script.shift() ??
      behaviours[model] ??
      rejection(model, calls) ??
      callsOfTools(model, path, body);
    play(step ?? delayed(model, number), path, body, response);
  });
  server.on('connection', () => connections++);
  // Thousands connect at once; with a full backlog, a client would retry only after seconds.
  server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 });
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: `http://${host}/v1`,
    host,
    calls,
    get connections() {
      return connections;
    },
    script: (...steps) => void script.push(...steps),
    arrived: async (count) => {
      while (calls.length < count) await wake.promise;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Providers that reject calls before any work. The model `limited-5-per-1000` answers 5 calls per second, without a hint
 * when to retry; `loading-1000` answers from one second after its first call on.
 */
function rejection(model: string, calls: readonly FakeCall[]): Step | null {
  const own = calls.filter((call) => call.model === model);
  const [first, last] = [own[0]?.atMs ?? 0, own.at(-1)?.atMs ?? 0];
  const [, count, perMs] = /^limited-(\d+)-per-(\d+)$/.exec(model) ?? [];
  if (count) {
    const windowOf = (atMs: number) => Math.floor((atMs - first) / Number(perMs));
    const inWindow = own.filter(({ atMs }) => windowOf(atMs) === windowOf(last)).length;
    if (inWindow > Number(count)) return failing(429, 'Too many requests.', 'rate_limit_exceeded');
  }
  const [, loadingMs] = /^loading-(\d+)$/.exec(model) ?? [];
  return loadingMs && last - first < Number(loadingMs) ? failing(503, 'Loading model') : null;
}

/** The model `calling-2-a.b` calls the tools `a` and `b` in its first two turns, each with the number of the turn. */
// biome-ignore lint/suspicious/noExplicitAny: arbitrary JSON
function callsOfTools(model: string, path: string, body: any): Step | null {
  const [, turns, names] = /^calling-(\d+)-(.+)$/.exec(model) ?? [];
  if (!turns || !names) return null;
  const turn =
    1 + body.messages.filter(({ role }: { role: string }) => role === 'assistant').length;
  if (turn > Number(turns)) return null;
  const calls = names.split('.').map((name, index) => ({
    ...{ id: `call_${turn}_${index}`, type: 'function' },
    function: {
      name,
      arguments: path.startsWith('/api/chat') ? { turn } : JSON.stringify({ turn }),
    },
  }));
  const message = { role: 'assistant', content: '', tool_calls: calls };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
  const answer = { id: 'x', object: 'chat.completion', created: 1, model, choices, usage };
  return { status: 200, body: path.startsWith('/api/chat') ? ollamaAnswer(answer) : answer };
}

/**
 * The model `after-250` answers after 250 ms. `numbered-250` answers with the number of the call, starting at 1.
 * `flaky-250` fails after that time if the number is a multiple of four. `after-250-of-x` is the same model under
 * another name. `streamed-2000` streams a text of its own for each call over two seconds. `spending-7` has used 7 output tokens.
 */
function delayed(model: string, number: number): Step {
  const [, overMs] = /^streamed-(\d+)$/.exec(model) ?? [];
  if (overMs) return { text: streamedText(number), overMs: Number(overMs) };
  const [, spent] = /^spending-(\d+)$/.exec(model) ?? [];
  if (spent) return { usage: { prompt_tokens: 10, completion_tokens: Number(spent) }, afterMs: 20 };
  const [, kind, afterMs = 0] = /^(after|numbered|flaky)-(\d+)(?:-of-.+)?$/.exec(model) ?? [];
  if (kind === 'flaky' && number % 4 === 0)
    return { ...failing(500, 'The server had an error.'), afterMs: Number(afterMs) };
  return { afterMs: Number(afterMs), ...(kind === 'numbered' && { text: String(number) }) };
}

/** Contains surrogate pairs and the number of the call throughout. */
function streamedText(number: number): string {
  return Array.from({ length: 60 }, (_, index) => `${number}.${index} \u{1f9ed}é `).join('');
}

/** A step that responds with an error in OpenAI's format. */
export function failing(status: number, message: string, code: string | null = null) {
  return { status, body: { error: { message, code, type: null, param: null } } };
}

// biome-ignore lint/suspicious/noExplicitAny: arbitrary JSON
function play(step: Step, path: string, body: any, response: ServerResponse): void {
  if (step === 'hang') return;
  if (step === 'reset') return void response.socket?.resetAndDestroy();
  if ('status' in step) {
    const bytes = step.body instanceof Buffer || typeof step.body === 'string';
    response.writeHead(step.status, {
      'content-type': bytes ? 'text/plain' : 'application/json',
      ...step.headers,
    });
    const text = bytes ? step.body : JSON.stringify(step.body ?? {});
    return void endLater(response, text, step.afterMs);
  }
  if ('chunks' in step) return void playChunks(step, response);
  const answer = completion('half' in step ? {} : step, body);
  const isOllama = path.startsWith('/api/chat');
  const isStream = body?.stream === true && !isOllama;
  const text = isStream
    ? eventsOf(answer)
    : JSON.stringify(isOllama ? ollamaAnswer(answer) : answer);
  response.writeHead(200, {
    'content-type': isStream ? 'text/event-stream' : 'application/json',
  });
  if ('overMs' in step && isStream) return void spread(response, text, step.overMs ?? 0);
  if ('overMs' in step) return void endLater(response, text, step.overMs);
  if (!('half' in step)) return void endLater(response, text, step.afterMs);
  response.write(text.slice(0, text.length / 2), () => {
    if (step.half === 'reset') response.socket?.resetAndDestroy();
  });
}

async function playChunks(
  { chunks, headers = { 'content-type': 'text/event-stream' }, ending }: Chunks,
  response: ServerResponse,
): Promise<void> {
  response.socket?.setNoDelay(true);
  response.writeHead(200, headers);
  for (const chunk of chunks) {
    await new Promise((resolve) => response.write(chunk, resolve));
  }
  if (ending === 'reset') response.socket?.resetAndDestroy();
  if (!ending) response.end();
}

type Chunks = Extract<Step, { chunks: unknown }>;

/** Sends server-sent events one after the other, evenly spread. */
async function spread(response: ServerResponse, text: string, overMs: number): Promise<void> {
  const events = text.split(/(?<=\n\n)/);
  const beganMs = performance.now();
  for (const [index, event] of events.entries()) {
    if (response.destroyed) return;
    response.write(event);
    const dueMs = beganMs + (overMs * (index + 1)) / events.length;
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, dueMs - performance.now())).unref(),
    );
  }
  response.end();
}

/** The completion as a stream: its text in pieces of four characters. */
function eventsOf({ choices: [choice], usage, ...rest }: ReturnType<typeof completion>): string {
  const { content, ...message } = choice?.message ?? {};
  const pieces = String(content ?? '').match(/.{1,4}/gsu) ?? [];
  const chunk = (fields: object) => `data: ${JSON.stringify({ ...rest, ...fields })}\n\n`;
  const delta = (fields: object, finish_reason: unknown = null) =>
    chunk({ choices: [{ index: 0, delta: fields, finish_reason }] });
  return [
    delta({ ...message, content: '' }),
    ...pieces.map((piece) => delta({ content: piece })),
    delta({}, choice?.finish_reason),
    ...(usage ? [chunk({ choices: [], usage })] : []),
    'data: [DONE]\n\n',
  ].join('');
}

/** Unreferenced, so that it does not keep a finished test alive. */
function endLater(response: ServerResponse, text: unknown, afterMs = 0): void {
  if (afterMs === 0) response.end(text);
  else setTimeout(() => response.end(text), afterMs).unref();
}

function completion(
  step: Exclude<Extract<Step, object>, { status: number } | { half: string } | Chunks>,
  // biome-ignore lint/suspicious/noExplicitAny: arbitrary JSON
  body: any,
) {
  const content = step.text === undefined ? (body?.messages?.at(-1)?.content ?? '') : step.text;
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: body?.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: step.refusal ?? null },
        finish_reason: step.finish ?? 'stop',
      },
    ],
    ...(step.usage === null ? {} : { usage: step.usage ?? usage }),
  };
}

/** The same answer as Ollama's own API gives it. */
function ollamaAnswer({
  model,
  choices: [choice],
  usage,
}: Pick<ReturnType<typeof completion>, 'model' | 'usage'> & {
  readonly choices: readonly { readonly message: object; readonly finish_reason: string }[];
}): object {
  const counts = usage as { prompt_tokens?: unknown; completion_tokens?: unknown } | undefined;
  return {
    ...{ model, created_at: '2026-11-25T00:00:00Z', message: choice?.message },
    ...{ done: true, done_reason: choice?.finish_reason },
    ...{ prompt_eval_count: counts?.prompt_tokens, eval_count: counts?.completion_tokens },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: arbitrary JSON
async function readJson(request: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}
