import { STATUS_CODES } from 'node:http';
import type { ExecutionErrorCode } from '../core/failure.ts';
import {
  type Cost,
  ModelFailure,
  noCost,
  type Usage,
  unknownCost,
} from '../core/model/model-port.ts';
import { OutboundFailure } from '../net/outbound-failure.ts';
import { type Complaint, readProviderError } from './provider-error.ts';
import { redact } from './redact.ts';
import { retryAfterMs } from './retry-after.ts';

/**
 * Whatever a call to a provider threw, as one of the closed list. `secrets` are taken out of the text.
 * Errors of the AI SDK are read by their fields: each provider package brings its own copy of their classes.
 */
export function toFailure(error: unknown, secrets: readonly string[], nowMs: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const own = outboundFailure(error);
  if (own) return new ModelFailure(codes[own.kind], redact(own.message, secrets), fates[own.kind]);
  const { statusCode, responseHeaders = {}, responseBody = '' } = error as Partial<ApiError>;
  if (statusCode === undefined) {
    // What the AI SDK says of an answer that it cannot read quotes the answer.
    if (unreadable.test(error instanceof Error ? error.name : '')) return unread();
    // Neither an answer nor the network: the request could not be put together.
    const said = error instanceof Error ? error.message : String(error);
    const message = redact(`The call failed: ${said}`, secrets);
    return new ModelFailure('PROVIDER_ERROR', message, fates.malformed);
  }
  const reading = { secrets, nowMs };
  if (statusCode < 300 || typeof responseBody !== 'string') {
    return hiddenFailure(responseBody, responseHeaders, reading);
  }
  return refusal({ status: statusCode, headers: responseHeaders, body: responseBody }, reading);
}

/**
 * An answer that calls itself good and is none. Only what stands in its `error` is taken for one: the rest may be what
 * the model wrote. The AI SDK gives an answer in which it finds an error itself as a value, with a status of its own making.
 */
function hiddenFailure(
  answer: unknown,
  headers: Record<string, string>,
  reading: Reading,
): ModelFailure {
  const { error, usage } = fieldsOf(answer);
  if (!error) return unread();
  // Nothing is charged for a refusal; for what it has counted it may want to be paid.
  const cost = usage ? unknownCost : noCost;
  return refusal({ headers, body: JSON.stringify({ error }) }, reading, { cost });
}

/** What a provider sent instead of an answer. An error within one that calls itself good has no status, or names one. */
interface Refused {
  readonly status?: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Reading {
  readonly secrets: readonly string[];
  readonly nowMs: number;
}

function refusal(
  { status: sent, headers, body }: Refused,
  { secrets, nowMs }: Reading,
  paid: Partial<Paid> = {},
): ModelFailure {
  const complaint = readProviderError(body);
  const status = sent ?? complaint.status;
  const { code, retryable } = status
    ? verdict(status, complaint, headers)
    : hiddenVerdict(complaint, headers);
  const text = complaint.text ?? STATUS_CODES[status ?? 0] ?? 'no reason given';
  const message = `The provider answered ${status ?? 'with an error'}: ${text}`;
  return new ModelFailure(code, redact(message, secrets), {
    retryable,
    retryAfterMs: retryable ? retryAfterMs(headers, body, nowMs) : 0,
    ...paid,
  });
}

function unread(): ModelFailure {
  return new ModelFailure(
    'PROVIDER_ERROR',
    "The provider's answer could not be read.",
    fates.broken,
  );
}

/** Once there was an answer the provider was paid, so usage and cost stand in the record. */
interface Paid {
  readonly usage: Usage;
  readonly cost: Cost;
}

/** A model that declined. What it wrote until then was withheld, and must not come back as the reason. */
export function filtered(paid: Paid): ModelFailure {
  return new ModelFailure('CONTENT_FILTERED', 'The provider withheld the answer.', paid);
}

/** An answer that ended in an error, with what the provider says of it. */
export function brokenOff(
  complaint: object | null,
  secrets: readonly string[],
  paid: Paid,
): ModelFailure {
  if (!complaint) {
    return new ModelFailure('PROVIDER_ERROR', 'The provider broke the answer off.', paid);
  }
  const body = JSON.stringify({ error: complaint });
  return refusal({ headers: {}, body }, { secrets, nowMs: Date.now() }, paid);
}

function fieldsOf(answer: unknown): { error?: unknown; usage?: unknown } {
  try {
    return Object(typeof answer === 'string' ? JSON.parse(answer) : answer);
  } catch {
    return {};
  }
}

/** The fields of the AI SDK's `APICallError` that are used. */
interface ApiError {
  readonly statusCode: number;
  readonly responseHeaders: Record<string, string>;
  readonly responseBody: unknown;
}

interface Verdict {
  readonly code: ExecutionErrorCode;
  readonly retryable: boolean;
}

/**
 * The order matters: a 429 may speak of tokens and a 403 of a filter, and a 400 may hide what others give a status of
 * its own (Google's bad key, Bedrock's unknown model).
 */
function verdict(status: number, said: Complaint, headers: Record<string, string>): Verdict {
  // Bedrock names its exceptions in a header: `ThrottlingException:http://…`.
  const named = headers['x-amzn-errortype']?.split(':', 1) ?? [];
  const given = new Set([...said.codes, ...named.map((name) => name.toLowerCase())]);
  const text = (said.text ?? '').slice(0, wordsCharsMax);
  const refused = status >= 400 && status < 500;
  const is = (known: ReadonlySet<string>, words: RegExp) =>
    !given.isDisjointFrom(known) || words.test(text);

  if (status === 429) return final('PROVIDER_RATE_LIMITED', !is(quotaCodes, quotaWords));
  // Groq: this one request is larger than the limit of a minute, and will be so again.
  if (status === 413 && given.has('rate_limit_exceeded')) return final('PROVIDER_RATE_LIMITED');
  if (status === 401) return final('PROVIDER_AUTH');
  if (refused && is(filterCodes, filterWords)) return final('CONTENT_FILTERED');
  if (status === 403 || (refused && is(authCodes, authWords))) return final('PROVIDER_AUTH');
  if (status === 404 || (refused && is(modelCodes, modelWords))) return final('MODEL_NOT_FOUND');
  if (status === 413 || (refused && is(contextCodes, contextWords))) return final('CONTEXT_LENGTH');
  // A redirect (3xx) leads to the same place each time.
  return final('PROVIDER_ERROR', status >= 500 || passingStatuses.has(status));
}

/** Without a status. What tells by neither code nor words what it is may pass. */
function hiddenVerdict(said: Complaint, headers: Record<string, string>): Verdict {
  const limited = !said.codes.isDisjointFrom(limitCodes) || limitWords.test(said.text ?? '');
  const found = verdict(limited ? 429 : 400, said, headers);
  return found.code === 'PROVIDER_ERROR' ? final('PROVIDER_ERROR', true) : found;
}

function final(code: ExecutionErrorCode, retryable = false): Verdict {
  return { code, retryable };
}

/**
 * Of a text this much is searched for words that tell. The text is a stranger's: whatever it repeats, each pattern below
 * must be done with this much at once.
 */
const wordsCharsMax = 4_096;
/** Request timeout, conflict, too early. */
const passingStatuses: ReadonlySet<number> = new Set([408, 409, 425]);
const quotaCodes: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_not_active',
  'billing_hard_limit_reached',
]);
/** What comes with a 429, where there is one. */
const limitCodes: ReadonlySet<string> = new Set([
  ...quotaCodes,
  'rate_limit_exceeded',
  'rate_limit_error',
  'too_many_requests',
  'resource_exhausted',
]);
const limitWords = /rate[ -]?limit|too many requests/i;
/** Not "exceeded your current quota": Google says so of the limit of a minute too. */
const quotaWords = /insufficient[ _](quota|balance|credit)/i;
const filterCodes: ReadonlySet<string> = new Set([
  'content_filter',
  'content_policy_violation',
  'responsibleaipolicyviolation',
  'data_inspection_failed',
  // OpenAI's word for a prompt that its usage policy forbids.
  'invalid_prompt',
]);
const filterWords =
  /content[ _]?(management |filter|policy)|safety (system|filter)|(input|prompt|request) was flagged|violat\w{1,10} (our|the) (usage|content) polic/i;
const authCodes: ReadonlySet<string> = new Set([
  'api_key_invalid',
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'accessdeniedexception',
  'unrecognizedclientexception',
]);
const authWords = /api[ _]key (not valid|expired|is invalid)|(invalid|incorrect) api[ _]key/i;
const modelCodes: ReadonlySet<string> = new Set([
  'model_not_found',
  'deploymentnotfound',
  'invalid_model',
]);
const modelWords =
  /model\b.{0,200}?\b(not found|(does not|doesn't|not) exist|identifier is invalid)|not a valid model|(invalid|unknown|no such) model\b/i;
const contextCodes: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'request_too_large',
  'string_above_max_length',
]);
const contextWords =
  /context[ _-]?(length|window|size)|(prompt|input|request|message)s? (is|are|was) too (long|large)|too many (input |prompt )?tokens|maximum (number of )?(input |prompt |context )?(tokens|length)|token count.{0,80}exceeds|max_new_tokens|reduce the length/i;

const codes = {
  refused: 'PROVIDER_NOT_CONFIGURED',
  unreached: 'PROVIDER_ERROR',
  timeout: 'MODEL_TIMEOUT',
  broken: 'PROVIDER_ERROR',
  malformed: 'PROVIDER_ERROR',
} as const;

/** Once a request is sent, the provider may charge for it whether or not its answer arrives. */
const fates = {
  refused: { retryable: false },
  unreached: { retryable: true },
  timeout: { retryable: true, cost: unknownCost },
  broken: { retryable: true, cost: unknownCost },
  malformed: { retryable: false, cost: unknownCost },
};

/** The AI SDK's errors for answers of another shape than promised; the next one may be right. */
const unreadable =
  /^AI_(InvalidResponseData|NoContentGenerated|TypeValidation|JSONParse|EmptyResponseBody)Error$/;

/** The AI SDK wraps what its fetch throws, where the cause looks like the network. */
function outboundFailure(error: unknown, depth = 0): OutboundFailure | null {
  if (error instanceof OutboundFailure) return error;
  if (!(error instanceof Error) || depth > 5) return null;
  return outboundFailure(error.cause, depth + 1);
}
