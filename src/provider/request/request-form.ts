import { createHash } from 'node:crypto';
import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { CallSettings } from '../../core/agent/call-settings.ts';
import type { ResponseFormat } from '../../core/agent/response-format.ts';
import { classify } from '../failure/classify-error.ts';
import { readProviderError } from '../failure/provider-error.ts';

/**
 * Requests in the form that a model accepts. Models of one API differ in the parameters that they reject, and only their
 * errors tell. On such an error the call is sent again in the other form, once for each rejected setting, and the form
 * is remembered for the model.
 *
 * - `maxTokens`: `max_completion_tokens` instead of `max_tokens`, or the reverse
 * - `temperature`, `topP` and other settings: left out
 * - `developer`: the role `system` instead
 * - `system`: the system text begins the user message instead
 * - a schema for the output: asked for by a text instead. Remembered for the schema, because its form may be the reason
 * - `chat`: chat completions instead of the Responses API
 * - `responses`: the reverse, for servers without chat completions
 * - `streamOptions`: left out, so that a stream may end without a usage
 * - `unstreamed`: a whole response instead of a stream
 * - `streamed`: a stream, though nobody reads along
 */
export type RequestForm = Set<Adjustment>;
export type Adjustment = Setting | FormatAdjustment | 'chat' | 'responses' | 'streamed';
type FormatAdjustment = `format ${string}`;
type Setting = 'maxTokens' | AdjustableSetting | 'developer' | 'system' | StreamSetting;
type StreamSetting = 'streamOptions' | 'unstreamed';
type AdjustableSetting = 'temperature' | 'topP' | Exclude<keyof CallSettings, 'providerOptions'>;

/** A call that can be sent in several forms. */
export interface AdjustableCall {
  /** The settings of this call that can be left out. */
  readonly adjustable: readonly AdjustableSetting[];
  /** The adjustment that stops sending the schema of the output; null without a schema. */
  readonly format: FormatAdjustment | null;
  /** Whether the model may be in the Responses API although it is called through chat completions. */
  readonly mayRespond: boolean;
  /** Whether a stream is asked for. */
  readonly streams: boolean;
  readonly optionsIn: (form: ReadonlySet<Adjustment>) => CallOptions;
}

type LanguageModel = ReturnType<OpenAICompatibleProvider['languageModel']>;
type CallOptions = Parameters<LanguageModel['doGenerate']>[0];

/** Sends the call, again for each setting that the model rejects. */
export async function inAcceptedForm<T>(
  form: RequestForm,
  call: AdjustableCall,
  send: (options: CallOptions) => PromiseLike<T>,
): Promise<T> {
  const added: Adjustment[] = [];
  for (;;) {
    const sent = new Set(form);
    try {
      return await send(call.optionsIn(sent));
    } catch (error) {
      const rejected = rejectedSetting(error as ApiError, call, sent);
      if (rejected !== null) {
        added.push(rejected);
        remember(form, rejected);
        continue;
      }
      // The other form was rejected too, so the setting was not the reason.
      const isRefused = isRejection(error as ApiError) || (error as ApiError).statusCode === 404;
      if (isRefused) for (const each of added) form.delete(each);
      throw error;
    }
  }
}

/** The settings of a call that this form leaves out, by their Cueline names. */
export function settingsLeftOut(form: RequestForm, { adjustable }: AdjustableCall): string[] {
  return adjustable.filter((name) => form.has(name));
}

/** The same `fetch`, with the body in the form that the model accepts, where the AI SDK has no option for it. */
export function fetchInForm(fetch: typeof globalThis.fetch, form: RequestForm): typeof fetch {
  return (input, init) => {
    const renamed = form.has('maxTokens') || form.has('developer');
    if (!renamed || typeof init?.body !== 'string') return fetch(input, init);
    return fetch(input, { ...init, body: JSON.stringify(rename(JSON.parse(init.body), form)) });
  };
}

function rename(body: Record<string, unknown>, form: RequestForm): Record<string, unknown> {
  const { max_tokens, max_completion_tokens, messages, input, ...rest } = body;
  const inverted = form.has('maxTokens');
  return {
    ...rest,
    ...limitAs('max_completion_tokens', inverted ? max_tokens : max_completion_tokens),
    ...limitAs('max_tokens', inverted ? max_completion_tokens : max_tokens),
    ...(messages !== undefined && { messages: withRoles(messages, form) }),
    ...(input !== undefined && { input: withRoles(input, form) }),
  };
}

function limitAs(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}

function withRoles(messages: unknown, form: RequestForm): unknown {
  if (!form.has('developer') || !Array.isArray(messages)) return messages;
  return messages.map((message) =>
    message?.role === 'developer' ? { ...message, role: 'system' } : message,
  );
}

/** The fields of the AI SDK's `APICallError` that are used. */
interface ApiError {
  readonly statusCode?: number;
  readonly responseBody?: unknown;
  readonly requestBodyValues?: unknown;
}

function isRejection({ statusCode }: ApiError): boolean {
  return statusCode === 400 || statusCode === 422;
}

/** Whether a model exists, but not in the Responses API: those of other vendors on Azure, a few of OpenAI's. */
function isNotForResponses({ statusCode, responseBody, requestBodyValues }: ApiError): boolean {
  const isResponses = Object(requestBodyValues).input !== undefined;
  if (!isResponses || (statusCode !== 400 && statusCode !== 404)) return false;
  const text = readProviderError(String(responseBody)).text?.slice(0, searchedCharsMax) ?? '';
  return notForResponses.test(text);
}

const notForResponses =
  /not (supported|available|enabled) (by|in|with|for|on) (the )?(v1\/)?responses\b|does not support (the )?responses\b|only (supported|available) (in|with|by) (the )?(v1\/)?chat[ /]?completions|requested operation is (un|not )supported/i;

/** Whether a server states that it has no chat completions. A page or a plain text is of something else. */
function hasNoChat({ statusCode, responseBody, requestBodyValues }: ApiError): boolean {
  const isChat = Object(requestBodyValues).messages !== undefined;
  if (!isChat || statusCode !== 404 || typeof responseBody !== 'string') return false;
  if (!responseBody.trimStart().startsWith('{')) return false;
  return classify(404, readProviderError(responseBody), {}).code === 'PROVIDER_ERROR';
}

/** The setting that the model rejects, if the call can be sent without it or in another form. */
function rejectedSetting(
  error: ApiError,
  call: AdjustableCall,
  sent: ReadonlySet<Adjustment>,
): Adjustment | null {
  if (isNotForResponses(error) && !sent.has('chat')) return 'chat';
  const isReversible = call.mayRespond && !sent.has('chat') && !sent.has('responses');
  if (isReversible && hasNoChat(error)) return 'responses';
  if (!isRejection(error) || typeof error.responseBody !== 'string') return null;
  const { text, codes } = readProviderError(error.responseBody);
  const body = error.responseBody.slice(0, searchedCharsMax);
  // FastAPI servers name the parameter in `loc` only, and OpenAI also in `param`.
  const named = [...body.matchAll(/"(?:param|loc)"\s*:\s*("[^"]*"|\[[^\]]*\])/g)].map(
    ([, value = '']) => value,
  );
  const searched = `${named.join(' ')} ${text ?? ''}`.slice(0, searchedCharsMax);
  if (!call.streams && !sent.has('streamed') && streamOnly.test(searched)) return 'streamed';
  const isUnsupported = !codes.isDisjointFrom(unsupportedCodes) || unsupportedText.test(searched);
  const possible = isUnsupported ? candidates(error.requestBodyValues, call, sent) : [];
  const found = possible.find((each) => names[each].test(searched));
  if (found) return found;
  // A gateway may name the first of several that its model rejects, and it is left out already.
  const otherSampling = sampling.some((each) => names[each].test(searched))
    ? possible.find((each) => sampling.includes(each))
    : undefined;
  if (otherSampling) return otherSampling;
  const { format } = call;
  return format !== null && !sent.has(format) && formatText.test(searched) ? format : null;
}

const sampling: readonly Setting[] = ['temperature', 'topP', 'topK'];

/** Models that answer only with a stream: DashScope, and gateways to models with long answers. */
const streamOnly =
  /only supports? (the )?stream|stream(ing)? (mode )?(is )?required|(must|please) (be |enable |set )?(the )?stream\b|requires? (the )?stream/i;

/** Texts about a schema or its form: a provider may not know the parameter, or reject this schema. */
const formatText =
  /response_?(format|schema|json_?schema|mime_?type)|json_?(schema|object|mode)|\bschema\b|output_(config|format)|structured[ _]?output|text\.format|\btools?(_?choice| use)?\b/i;

/** The adjustment for the schema of a format. */
export function formatAdjustment({ schema }: ResponseFormat): FormatAdjustment {
  const digest = createHash('sha256').update(JSON.stringify(schema)).digest('base64url');
  return `format ${digest}`;
}

/** Schemas of one model that are remembered as rejected. */
const formatsMax = 100;

function remember(form: RequestForm, adjustment: Adjustment): void {
  form.add(adjustment);
  const formats = [...form].filter((each) => each.startsWith('format '));
  if (formats[0] && formats.length > formatsMax) form.delete(formats[0]);
}

/** What the request contains and can be changed, in the order in which it is tried. */
function candidates(
  body: unknown,
  { adjustable, streams, optionsIn }: AdjustableCall,
  sent: ReadonlySet<Adjustment>,
): Setting[] {
  const { max_tokens, max_completion_tokens, messages, input } = Object(body);
  const limit = max_tokens ?? max_completion_tokens;
  const roles = [messages, input].flatMap((list) => (Array.isArray(list) ? list : []));
  const isDeveloper = roles.some((each) => each?.role === 'developer') && !sent.has('developer');
  const options = optionsIn(new Set());
  const hasSystem = options.prompt.some(({ role }) => role === 'system');
  const present: readonly (Setting | false)[] = [
    limit !== undefined &&
      Array.isArray(messages) &&
      options.maxOutputTokens === limit &&
      'maxTokens',
    ...adjustable.toReversed(),
    isDeveloper && 'developer',
    hasSystem && !isDeveloper && options.prompt.length > 1 && 'system',
    // The request without a stream has neither.
    streams && Array.isArray(messages) && 'streamOptions',
    streams && 'unstreamed',
  ];
  return present.filter((each) => each !== false && !sent.has(each)) as Setting[];
}

const searchedCharsMax = 4_096;

const unsupportedCodes: ReadonlySet<string> = new Set([
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
  'extra_forbidden',
]);
const unsupportedText =
  /unsupported|not supported|does(n't| not) support|is deprecated|not (allowed|permitted)|extra (inputs|fields)|unrecognized|unknown (variant|parameter|field|argument|name)|unexpected (role|keyword|parameter)|cannot (both )?be (both )?(specified|used|set)|only the default|developer instruction is not enabled|roles must alternate/i;

const names: Readonly<Record<Setting, RegExp>> = {
  maxTokens: /\bmax_(completion_)?tokens\b/,
  topP: /\btop_?p\b/i,
  temperature: /\btemperature\b/i,
  reasoningEffort: /\breasoning(_?effort)?\b|\bthinking(_?config)?\b|\beffort\b/i,
  stop: /\bstop(_?sequences)?\b/i,
  seed: /\bseed\b/i,
  topK: /\btop_?k\b/i,
  presencePenalty: /\bpresence_?penalty\b/i,
  frequencyPenalty: /\bfrequency_?penalty\b/i,
  cachePrompt: /\bcache_?(control|point)\b|\bprompt_cache_key\b/i,
  serviceTier: /\bservice_?tier\b/i,
  developer: /\brole\b/i,
  system: /\brole\b|developer instruction is not enabled|roles must alternate/i,
  streamOptions: /\bstream_options\b|\binclude_usage\b/i,
  unstreamed: /\bstream(ing|ed)?\b/i,
};
