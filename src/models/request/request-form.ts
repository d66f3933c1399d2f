import { createHash } from 'node:crypto';
import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { ResponseFormat } from '../../core/agent/response-format.ts';
import { wordSet } from '../../core/words.ts';
import { classify } from '../failure/classify-error.ts';
import { type ProviderErrorBody, readProviderError } from '../failure/provider-error.ts';
import type {
  AdjustableSetting,
  Adjustment,
  FieldAdjustment,
  FormatAdjustment,
  PromptForm,
  ReasoningForm,
  RequestForm,
  Setting,
} from '../port/adjustment.ts';
import { hasAdjacent, hasLaterSystem, hasSystem } from './message-order.ts';
import {
  isUnsupported,
  objectsToFormat,
  objectsToGrammar,
  objectsToOrder,
  objectsToSystem,
  wantsStream,
  withoutCondition,
} from './objections.ts';
import { isReasoningForm, rejectedReasoning } from './reasoning-form.ts';

/** A call that can be sent in several forms. */
export interface AdjustableCall {
  /** The settings of this call that can be left out, with their values. */
  readonly adjustable: ReadonlyMap<AdjustableSetting, unknown>;
  /** Whether it has provider options. */
  readonly hasOptions: boolean;
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

/** Sends the call, again for each setting that the model rejects. Returns the form in which it was accepted as well. */
export async function inAcceptedForm<T>(
  form: RequestForm,
  call: AdjustableCall,
  send: (options: CallOptions) => PromiseLike<T>,
): Promise<{ readonly answer: T; readonly sent: ReadonlySet<Adjustment> }> {
  const added: Adjustment[] = [];
  const ofThisCall: ReasoningForm[] = [];
  for (;;) {
    const sent = new Set([...form, ...ofThisCall]);
    try {
      return { answer: await send(call.optionsIn(sent)), sent };
    } catch (error) {
      const rejected = rejectedSetting(error as ApiError, call, sent);
      if (rejected !== null) {
        if (isReasoningForm(rejected)) ofThisCall.push(rejected);
        else {
          added.push(rejected);
          remember(form, rejected);
        }
        continue;
      }
      // The other form was rejected too, so the setting was not the reason.
      if (isRefused(error as ApiError)) for (const each of added) form.delete(each);
      throw error;
    }
  }
}

/**
 * The settings of a call that this form leaves out, by their Cueline names.
 * @param body of the request, before its fields were left out
 */
export function settingsLeftOut(
  form: ReadonlySet<Adjustment>,
  call: AdjustableCall,
  body: unknown,
): string[] {
  const isOff = form.has('thinkingOff');
  const settings = [...call.adjustable.keys()].filter((name) => form.has(name));
  const fields = typeof body === 'string' ? JSON.parse(body) : body;
  const hasLostOption = call.hasOptions && fieldsLeftOut(Object(fields), form).length > 0;
  return [
    ...settings,
    ...(isOff ? ['reasoningEffort'] : []),
    ...(hasLostOption ? ['providerOptions'] : []),
  ];
}

function fieldsLeftOut(body: Record<string, unknown>, form: ReadonlySet<Adjustment>): string[] {
  if (!leavesOutFields(form)) return [];
  return Object.keys(body).filter((name) => form.has(fieldAdjustment(name, body[name])));
}

function leavesOutFields(form: ReadonlySet<Adjustment>): boolean {
  return [...form].some((each) => each.startsWith(fieldPrefix));
}

const fieldPrefix = 'field ';

function fieldAdjustment(name: string, value: unknown): FieldAdjustment {
  return `${fieldPrefix}${name} ${digestOf(value)}`;
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64url');
}

/** The same `fetch`, with the body in the form that the model accepts, where the AI SDK has no option for it. */
export function fetchInForm(fetch: typeof globalThis.fetch, form: RequestForm): typeof fetch {
  return (input, init) => {
    const isChanged = form.has('maxTokens') || form.has('developer') || leavesOutFields(form);
    if (!isChanged || typeof init?.body !== 'string') return fetch(input, init);
    return fetch(input, { ...init, body: JSON.stringify(rename(JSON.parse(init.body), form)) });
  };
}

function rename(body: Record<string, unknown>, form: RequestForm): Record<string, unknown> {
  const { max_tokens, max_completion_tokens, messages, input, ...rest } = body;
  const inverted = form.has('maxTokens');
  for (const name of fieldsLeftOut(rest, form)) delete rest[name];
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

function isRejection(status: number): boolean {
  return status === 400 || status === 422;
}

/** The status of an error, also of one inside a successful response. */
function statusOf({ statusCode = 0 }: ApiError, { status }: ProviderErrorBody): number {
  return statusCode < 300 ? (status ?? 0) : statusCode;
}

/** Whether a request was refused for what is in it. */
function isRefused(error: ApiError): boolean {
  const body = readProviderError(String(error.responseBody ?? ''));
  const status = statusOf(error, body);
  const text = searchedText(error, body);
  return isRejection(status) || status === 404 || objectsToOrder(text) || objectsToSystem(text);
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

/** What the model rejects, if the call can be sent without it or in another form. */
function rejectedSetting(
  error: ApiError,
  call: AdjustableCall,
  sent: ReadonlySet<Adjustment>,
): Adjustment | null {
  if (isNotForResponses(error) && !sent.has('chat')) return 'chat';
  const isReversible = call.mayRespond && !sent.has('chat') && !sent.has('responses');
  if (isReversible && hasNoChat(error)) return 'responses';
  if (typeof error.responseBody !== 'string') return null;
  const body = readProviderError(error.responseBody);
  const status = statusOf(error, body);
  const mayObject = isRejection(status) || status >= 500;
  if (!mayObject) return null;
  const searched = searchedText(error, body);
  const { prompt } = call.optionsIn(sent);
  const reasoning = rejectedReasoning(searched, prompt, sent);
  if (reasoning) return reasoning;
  const order = rejectedOrder(searched, call, sent);
  if (order) return order !== 'joined' && hasDeveloper(error, sent) ? 'developer' : order;
  const isSchema = isRejection(status) ? objectsToFormat(searched) : objectsToGrammar(searched);
  const format = isSchema && call.format !== null && !sent.has(call.format) ? call.format : null;
  if (!isRejection(status)) return format;
  if (!call.streams && !sent.has('streamed') && wantsStream(searched)) return 'streamed';
  if (!isUnsupported(body.codes, searched)) return format;
  const asked = { fields: error.requestBodyValues, call, sent };
  // What reasoning excludes comes before reasoning itself.
  const texts = [withoutCondition(searched), searched];
  return (
    texts.map((text) => rejectedParameter(text, asked)).find((each) => each !== null) ?? format
  );
}

/** Its texts and the parameters it names. */
function searchedText({ responseBody }: ApiError, { text }: ProviderErrorBody): string {
  const body = String(responseBody).slice(0, searchedCharsMax);
  // FastAPI servers name the parameter in `loc` only, and OpenAI also in `param`.
  const named = [...body.matchAll(/"(?:param|loc)"\s*:\s*("[^"]*"|\[[^\]]*\])/g)].map(
    ([, value = '']) => value,
  );
  return `${named.join(' ')} ${text ?? ''}`.slice(0, searchedCharsMax);
}

interface Asked {
  /** Of the body. */
  readonly fields: unknown;
  readonly call: AdjustableCall;
  readonly sent: ReadonlySet<Adjustment>;
}

function rejectedParameter(text: string, { fields, call, sent }: Asked): Adjustment | null {
  const possible = candidates(fields, call, sent);
  const found = possible.find((each) => names[each].test(text)) ?? withValue(possible, call, text);
  if (found) return found;
  // A gateway may name the first of several that its model rejects, and it is left out already.
  const otherSampling = sampling.some((each) => names[each].test(text))
    ? possible.find((each) => sampling.includes(each))
    : undefined;
  return otherSampling ?? rejectedField(fields, text, sent);
}

/** The setting whose value a text quotes without its name: "Invalid value: 'minimal'". */
function withValue(
  possible: readonly Setting[],
  { adjustable }: AdjustableCall,
  text: string,
): Setting | undefined {
  return possible.find((name) => {
    const value = adjustable.get(name as AdjustableSetting);
    return typeof value === 'string' && isQuoted(value, text);
  });
}

function isQuoted(word: string, text: string): boolean {
  return ['"', "'", '`'].some((quote) => text.includes(quote + word + quote));
}

/** A field that no setting sends. A plain word counts as its name only in quotes. */
function rejectedField(
  fields: unknown,
  text: string,
  sent: ReadonlySet<Adjustment>,
): FieldAdjustment | null {
  const [field, rejected] =
    Object.entries(Object(fields)).find(([name, value]) => {
      if (value === undefined || essential.has(name) || sent.has(fieldAdjustment(name, value)))
        return false;
      if (/^[a-z]+$/.test(name)) return isQuoted(name, text);
      return /\W/.test(name) ? text.includes(name) : text.split(/\W+/).includes(name);
    }) ?? [];
  return field === undefined ? null : fieldAdjustment(field, rejected);
}

/** Fields that the call is about, those that settings send, and those that protect data or people. */
const essential = wordSet(`
  model messages input contents system instructions tools tool_choice stream max_tokens
  max_completion_tokens max_output_tokens response_format store metadata user safety_identifier
  safetySettings guardrailConfig provider text toolConfig systemInstruction generationConfig
  inferenceConfig
`);

function hasDeveloper({ requestBodyValues }: ApiError, sent: ReadonlySet<Adjustment>): boolean {
  const { messages, input } = Object(requestBodyValues);
  const roles = [messages, input].flatMap((list) => (Array.isArray(list) ? list : []));
  return roles.some((each) => each?.role === 'developer') && !sent.has('developer');
}

/** What helps against an objection to the order of messages; null for any other text, or if nothing helps. */
function rejectedOrder(
  text: string,
  { optionsIn }: AdjustableCall,
  sent: ReadonlySet<Adjustment>,
): PromptForm | null {
  const isAboutOrder = objectsToOrder(text);
  if (!isAboutOrder && !objectsToSystem(text)) return null;
  const { prompt } = optionsIn(sent);
  if (hasLaterSystem(prompt) && !sent.has('systemFirst')) return 'systemFirst';
  if (isAboutOrder && hasAdjacent(prompt) && !sent.has('joined')) return 'joined';
  return hasSystem(prompt) && !sent.has('system') ? 'system' : null;
}

const sampling: readonly Setting[] = ['temperature', 'topP', 'topK'];

/** The adjustment for the schema of a format. */
export function formatAdjustment({ schema }: ResponseFormat): FormatAdjustment {
  return `format ${digestOf(schema)}`;
}

/** Schemas of one model that are remembered as rejected, and values of fields. */
const digestsMax = 100;

function remember(form: RequestForm, adjustment: Adjustment): void {
  form.add(adjustment);
  for (const prefix of ['format ', fieldPrefix]) {
    const digests = [...form].filter((each) => each.startsWith(prefix));
    if (digests[0] && digests.length > digestsMax) form.delete(digests[0]);
  }
}

/** What the request contains and can be changed, in the order in which it is tried. */
function candidates(
  body: unknown,
  { adjustable, streams, optionsIn }: AdjustableCall,
  sent: ReadonlySet<Adjustment>,
): Setting[] {
  const { max_tokens, max_completion_tokens, messages } = Object(body);
  const limit = max_tokens ?? max_completion_tokens;
  const isOwnLimit = limit !== undefined && optionsIn(new Set()).maxOutputTokens === limit;
  const present: readonly (Setting | false)[] = [
    isOwnLimit && Array.isArray(messages) && 'maxTokens',
    ...[...adjustable.keys()].toReversed(),
    hasDeveloper({ requestBodyValues: body }, sent) && 'developer',
    // The request without a stream has neither.
    streams && Array.isArray(messages) && 'streamOptions',
    streams && 'unstreamed',
  ];
  return present.filter((each) => each !== false && !sent.has(each)) as Setting[];
}

const searchedCharsMax = 4_096;

const names: Readonly<Record<Setting, RegExp>> = {
  maxTokens: /\bmax_(completion_)?tokens\b/,
  topP: /\btop_?p\b/i,
  temperature: /\btemperature\b/i,
  reasoningEffort:
    /\breasoning(_?effort)?\b|\bthinking(_?(config|level|budget|mode))?\b|\beffort\b/i,
  stop: /\bstop([_ ]?sequences)?\b/i,
  seed: /\bseed\b/i,
  topK: /\btop_?k\b/i,
  presencePenalty: /\bpresence[_ ]?penalty\b|(?<!(frequency|repetition)[_ ]?)\bpenalt(y|ies)\b/i,
  frequencyPenalty: /\bfrequency[_ ]?penalty\b|(?<!(presence|repetition)[_ ]?)\bpenalt(y|ies)\b/i,
  cachePrompt: /\bcache_?(control|point)\b|\bprompt_cache_key\b/i,
  serviceTier: /\bservice_?tier\b/i,
  developer: /\brole\b|\bdeveloper\b/i,
  streamOptions: /\bstream_options\b|\binclude_usage\b/i,
  unstreamed: /\bstream(ing|ed)?\b/i,
};
