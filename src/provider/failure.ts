import { STATUS_CODES } from 'node:http';
import type { ExecutionErrorCode } from '../core/failure.ts';
import {
  type AnswerDetails,
  type Cost,
  ModelFailure,
  noCost,
  type Usage,
  unknownCost,
} from '../core/model/model-port.ts';
import { OutboundFailure } from '../net/outbound-failure.ts';
import { type ProviderErrorBody, readProviderError } from './provider-error.ts';
import { UnreadableResponse } from './read-response.ts';
import { redact } from './redact.ts';
import { retryAfterMs } from './retry-after.ts';

/**
 * Maps anything a provider call threw to the closed list of error codes. `secrets` are removed from the text. Errors of
 * the AI SDK are recognized by their fields: each provider package has its own copy of the classes.
 */
export function toFailure(error: unknown, secrets: readonly string[], nowMs: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (error instanceof UnreadableResponse) return unread(error.field);
  const own = outboundFailure(error);
  if (own)
    return new ModelFailure(
      codes[own.kind],
      redact(own.message, secrets),
      failureOptions[own.kind],
    );
  const { statusCode, responseHeaders = {}, responseBody = '' } = error as Partial<ApiError>;
  if (statusCode === undefined) {
    // The AI SDK's message for an unreadable response quotes the response.
    if (unreadable.test(error instanceof Error ? error.name : '')) return unread();
    // Neither a response nor the network: the request could not be built.
    const reason = error instanceof Error ? error.message : String(error);
    const message = redact(`The call failed: ${reason}`, secrets);
    return new ModelFailure('PROVIDER_ERROR', message, failureOptions.malformed);
  }
  const reading = { secrets, nowMs };
  if (statusCode < 300 || typeof responseBody !== 'string') {
    return hiddenFailure(responseBody, responseHeaders, reading);
  }
  return refusal({ status: statusCode, headers: responseHeaders, body: responseBody }, reading);
}

/**
 * An error inside a response with a success status. Only its `error` field counts: the rest may be model output. The AI
 * SDK returns such an error as a value, with a status of its own making.
 */
function hiddenFailure(
  response: unknown,
  headers: Record<string, string>,
  reading: Reading,
): ModelFailure {
  const { error, usage } = fieldsOf(response);
  if (!error) return unread();
  // A provider that counted tokens may charge for them.
  const paid = usage ? { cost: unknownCost } : {};
  return refusal({ headers, body: JSON.stringify({ error }) }, reading, paid);
}

/** A provider's error response. An error inside a successful response has no status, or names one. */
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
  const providerError = readProviderError(body);
  const status = sent ?? providerError.status;
  const { code, retryable } = status
    ? classify(status, providerError, headers)
    : classifyHidden(providerError, headers);
  const text = providerError.text ?? STATUS_CODES[status ?? 0] ?? 'no reason given';
  const message = `The provider answered ${status ?? 'with an error'}: ${text}`;
  return new ModelFailure(code, redact(message, secrets), {
    retryable,
    retryAfterMs: retryable ? retryAfterMs(headers, body, nowMs) : 0,
    // A refusal costs nothing, but behind a gateway that gave up, the model may have answered.
    cost: gatewayStatuses.has(status ?? 0) ? unknownCost : noCost,
    ...paid,
  });
}

/**
 * Not retried: it was paid for, and the next one would be written in the same way.
 * @param field the path of the field at fault; null if the response is not JSON, left out if neither is known
 */
function unread(field?: string | null): ModelFailure {
  const name = (field ?? 'body').replace(/[^\w.[\]-]/g, '').slice(0, fieldCharsMax);
  const why =
    field === null
      ? ' because it is not JSON'
      : field
        ? ` because its field ${name} has an unknown form`
        : '';
  return new ModelFailure('PROVIDER_ERROR', `The provider's response could not be read${why}.`, {
    ...failureOptions.malformed,
    unreadField: name,
  });
}

const fieldCharsMax = 100;

/** Once there was a response the provider was paid, so usage and cost go into the record. */
interface Paid {
  readonly usage: Usage;
  readonly cost: Cost;
  readonly details?: AnswerDetails;
}

/** A model that declined. Its partial text was withheld and must not appear in the error. */
export function filtered(paid: Paid): ModelFailure {
  const finishReason = 'content-filter';
  return new ModelFailure('CONTENT_FILTERED', 'The provider withheld the response.', {
    ...{ ...paid, finishReason },
  });
}

/** A response without a text: the model only reasoned, or called a tool that nobody offered. */
export function empty(finishReason: string, paid: Paid): ModelFailure {
  const { reasoningText = null, reasoningTokens = null } = paid.details ?? {};
  const reasoned = reasoningText !== null || (reasoningTokens ?? 0) > 0;
  const what = reasoned ? 'only reasoning and no text' : 'no text';
  const message = `The model returned ${what} (finish reason ${finishReason}).`;
  return new ModelFailure('EMPTY_OUTPUT', message, { ...paid, finishReason });
}

/** A response that ended in an error, with the provider's message. */
export function endedInError(
  providerError: object | null,
  secrets: readonly string[],
  paid: Paid,
): ModelFailure {
  if (!providerError) {
    return new ModelFailure(
      'PROVIDER_ERROR',
      'The provider ended its response with an error.',
      paid,
    );
  }
  const body = JSON.stringify({ error: providerError });
  return refusal({ headers: {}, body }, { secrets, nowMs: Date.now() }, paid);
}

function fieldsOf(response: unknown): { error?: unknown; usage?: unknown } {
  try {
    return Object(typeof response === 'string' ? JSON.parse(response) : response);
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

interface Classification {
  readonly code: ExecutionErrorCode;
  readonly retryable: boolean;
}

/**
 * The order matters: a 429 may mention tokens and a 403 a filter, and a 400 may hide errors for which other providers
 * have a separate status (Google's invalid key, Bedrock's unknown model).
 */
function classify(
  status: number,
  body: ProviderErrorBody,
  headers: Record<string, string>,
): Classification {
  // Bedrock names its exceptions in a header: `ThrottlingException:http://…`.
  const named = headers['x-amzn-errortype']?.split(':', 1) ?? [];
  const given = new Set([...body.codes, ...named.map((name) => name.toLowerCase())]);
  const text = (body.text ?? '').slice(0, searchedCharsMax);
  const refused = status >= 400 && status < 500;
  const is = (known: ReadonlySet<string>, words: RegExp) =>
    !given.isDisjointFrom(known) || words.test(text);

  if (status === 429) return final('PROVIDER_RATE_LIMITED', !is(quotaCodes, quotaText));
  // Groq: this request alone exceeds the limit per minute, and will do so again.
  if (status === 413 && given.has('rate_limit_exceeded')) return final('PROVIDER_RATE_LIMITED');
  if (status === 401) return final('PROVIDER_AUTH');
  if (refused && is(filterCodes, filterText)) return final('CONTENT_FILTERED');
  if (status === 403 || (refused && is(authCodes, authText))) return final('PROVIDER_AUTH');
  if (status === 404 || (refused && is(modelCodes, modelText))) return final('MODEL_NOT_FOUND');
  if (status === 413 || (refused && is(contextCodes, contextText))) return final('CONTEXT_LENGTH');
  // A redirect (3xx) is permanent: a retry gets the same one.
  return final('PROVIDER_ERROR', status >= 500 || transientStatuses.has(status));
}

/** Without a status. If neither code nor text identifies the error, a retry may succeed. */
function classifyHidden(body: ProviderErrorBody, headers: Record<string, string>): Classification {
  const limited = !body.codes.isDisjointFrom(limitCodes) || limitText.test(body.text ?? '');
  const found = classify(limited ? 429 : 400, body, headers);
  return found.code === 'PROVIDER_ERROR' ? final('PROVIDER_ERROR', true) : found;
}

function final(code: ExecutionErrorCode, retryable = false): Classification {
  return { code, retryable };
}

/**
 * The part of a text that is searched. The text is untrusted: every pattern below must handle this length quickly,
 * whatever it repeats.
 */
const searchedCharsMax = 4_096;
/** Bad gateway, gateway timeout, and the timeout of Cloudflare. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 504, 524]);
/** Request timeout, conflict, too early. */
const transientStatuses: ReadonlySet<number> = new Set([408, 409, 425]);
const quotaCodes: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_not_active',
  'billing_hard_limit_reached',
]);
/** Codes sent with a 429. */
const limitCodes: ReadonlySet<string> = new Set([
  ...quotaCodes,
  'rate_limit_exceeded',
  'rate_limit_error',
  'too_many_requests',
  'resource_exhausted',
]);
const limitText = /rate[ -]?limit|too many requests/i;
/** Not "exceeded your current quota": Google also says that of a limit per minute. */
const quotaText = /insufficient[ _](quota|balance|credit)/i;
const filterCodes: ReadonlySet<string> = new Set([
  'content_filter',
  'content_policy_violation',
  'responsibleaipolicyviolation',
  'data_inspection_failed',
  // OpenAI's code for a prompt that its usage policy forbids.
  'invalid_prompt',
]);
const filterText =
  /content[ _]?(management |filter|policy)|safety (system|filter)|(input|prompt|request) was flagged|violat\w{1,10} (our|the) (usage|content) polic/i;
const authCodes: ReadonlySet<string> = new Set([
  'api_key_invalid',
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'accessdeniedexception',
  'unrecognizedclientexception',
]);
const authText = /api[ _]key (not valid|expired|is invalid)|(invalid|incorrect) api[ _]key/i;
const modelCodes: ReadonlySet<string> = new Set([
  'model_not_found',
  'deploymentnotfound',
  'invalid_model',
]);
const modelText =
  /model\b.{0,200}?\b(not found|(does not|doesn't|not) exist|identifier is invalid)|not a valid model|(invalid|unknown|no such) model\b/i;
const contextCodes: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'request_too_large',
  'string_above_max_length',
]);
const contextText =
  /context[ _-]?(length|window|size)|(prompt|input|request|message)s? (is|are|was) too (long|large)|too many (input |prompt )?tokens|maximum (number of )?(input |prompt |context )?(tokens|length)|token count.{0,80}exceeds|max_new_tokens|reduce the length/i;

const codes = {
  refused: 'PROVIDER_NOT_CONFIGURED',
  unreached: 'PROVIDER_ERROR',
  timeout: 'MODEL_TIMEOUT',
  broken: 'PROVIDER_ERROR',
  malformed: 'PROVIDER_ERROR',
} as const;

/** Once a request is sent, the provider may charge for it whether or not the response arrives. */
const failureOptions = {
  refused: { retryable: false },
  unreached: { retryable: true },
  timeout: { retryable: true, cost: unknownCost },
  broken: { retryable: true, cost: unknownCost },
  malformed: { retryable: false, cost: unknownCost },
};

/** The AI SDK's errors for responses of an unexpected shape; the next one may be valid. */
const unreadable =
  /^AI_(InvalidResponseData|NoContentGenerated|TypeValidation|JSONParse|EmptyResponseBody)Error$/;

/** The AI SDK wraps errors of its fetch when the cause looks like the network. */
function outboundFailure(error: unknown, depth = 0): OutboundFailure | null {
  if (error instanceof OutboundFailure) return error;
  if (!(error instanceof Error) || depth > 5) return null;
  return outboundFailure(error.cause, depth + 1);
}
