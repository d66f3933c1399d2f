import { STATUS_CODES } from 'node:http';
import type { ToolCall } from '../../core/agent/messages.ts';
import { argumentsMismatch } from '../../core/agent/response-format.ts';
import {
  type AnswerDetails,
  type Cost,
  ModelFailure,
  noCost,
  type Usage,
  unknownCost,
} from '../../core/model/model-port.ts';
import { OutboundFailure } from '../../net/outbound-failure.ts';
import { classify, classifyHidden, wrongPath } from './classify-error.ts';
import { readProviderError, statedError } from './provider-error.ts';
import { redact } from './redact.ts';
import { retryAfterMs } from './retry-after.ts';
import { UnreadableResponse } from './unreadable-response.ts';

/**
 * Maps anything a provider call threw to the closed list of error codes. `secrets` are removed from the text. Errors of
 * the AI SDK are recognized by their fields: each provider package has its own copy of the classes.
 */
export function toFailure(error: unknown, secrets: readonly string[], nowMs: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (error instanceof UnreadableResponse) return unreadable(error.field);
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
    if (unreadableErrors.test(error instanceof Error ? error.name : '')) return unreadable();
    // Neither a response nor the network: the request could not be built.
    const reason = error instanceof Error ? error.message : String(error);
    const message = redact(`The call failed: ${reason}`, secrets);
    const isUnsent = error instanceof Error && error.name === unsupported;
    const cost = isUnsent ? noCost : unknownCost;
    return new ModelFailure('PROVIDER_ERROR', message, { retryable: false, cost });
  }
  const reading = { secrets, nowMs };
  if (statusCode < 300 || typeof responseBody !== 'string') {
    return hiddenFailure(responseBody, responseHeaders, reading);
  }
  return refusal({ status: statusCode, headers: responseHeaders, body: responseBody }, reading);
}

/**
 * An error inside a response with a success status. Only its `error` field counts, or a code and message instead of an
 * answer: the rest may be model output. The AI SDK returns such an error as a value, with a status of its own making.
 */
function hiddenFailure(
  response: unknown,
  headers: Record<string, string>,
  reading: Reading,
): ModelFailure {
  const fields = fieldsOf(response);
  const { usage } = fields;
  const error = fields.error || statedError(fields);
  if (!error) return unreadable();
  // A provider that counted tokens may charge for them.
  const paid = usage ? { cost: unknownCost } : {};
  const isAccepted = fields.object === 'response';
  return refusal({ headers, body: JSON.stringify({ error }), isAccepted }, reading, paid);
}

/** A provider's error response. An error inside a successful response has no status, or names one. */
interface Refused {
  readonly status?: number;
  /** Whether the provider had begun to work on it, as a response of the Responses API tells. */
  readonly isAccepted?: boolean;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Reading {
  readonly secrets: readonly string[];
  readonly nowMs: number;
}

function refusal(
  { status: sent, headers, body, isAccepted = false }: Refused,
  { secrets, nowMs }: Reading,
  paid: Partial<Paid> = {},
): ModelFailure {
  const providerError = readProviderError(body);
  const status = sent ?? providerError.status;
  const { code, retryable, rejected, hasWorked } = status
    ? classify(status, providerError, headers)
    : classifyHidden(providerError, headers);
  const isBroken = isAccepted && code === 'PROVIDER_ERROR';
  const mayHaveWorked = hasWorked || isBroken || gatewayStatuses.has(status ?? 0);
  const text = providerError.text ?? STATUS_CODES[status ?? 0] ?? 'no reason given';
  const answered = `The provider answered ${status ?? 'with an error'}`;
  const message =
    status === 404 && code === 'PROVIDER_ERROR'
      ? `${answered} for the path of the call. ${askForURL}`
      : `${answered}: ${text}${wrongPath.test(text) ? ` ${askForURL}` : ''}`;
  return new ModelFailure(code, redact(message, secrets), {
    retryable,
    // A provider that counted tokens has worked before it failed.
    rejected: rejected && (paid.cost?.known ?? true) && !paid.usage?.inputTokens,
    retryAfterMs: retryable
      ? retryAfterMs(headers, body, { nowMs, limited: code === 'PROVIDER_RATE_LIMITED' })
      : 0,
    // A refusal costs nothing, but behind a gateway that gave up, the model may have answered.
    cost: mayHaveWorked && !rejected ? unknownCost : noCost,
    ...paid,
  });
}

const askForURL = 'Is the base URL right?';

/**
 * Not retried: it was paid for, and the next one would be written in the same way.
 * @param field the path of the field at fault; null if the response is not JSON, left out if neither is known
 */
function unreadable(field?: string | null): ModelFailure {
  const name = (field ?? 'body').replace(/[^\w.[\]-]/g, '').slice(0, fieldCharsMax);
  const why =
    field === null
      ? ' because it is not JSON'
      : field
        ? ` because its field ${name} has an unknown form`
        : '';
  const asked = field === null ? ` ${askForURL}` : '';
  const message = `The provider's response could not be read${why}.${asked}`;
  return new ModelFailure('PROVIDER_ERROR', message, {
    ...failureOptions.malformed,
    unreadableField: name,
  });
}

const fieldCharsMax = 100;

/** Once there was a response the provider was paid, so usage and cost go into the record. */
interface Paid {
  readonly usage: Usage;
  readonly cost: Cost;
  readonly details?: AnswerDetails;
}

/** A model or a filter that declined. The text is no output, and must not appear in the error. */
export function filtered(paid: Paid): ModelFailure {
  const finishReason = 'content-filter';
  return new ModelFailure('CONTENT_FILTERED', 'The provider withheld the response.', {
    ...paid,
    finishReason,
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

/** A call of a tool whose arguments are no JSON object. Only the model knows what it meant, so it is asked again. */
export function unreadableArguments(
  call: ToolCall,
  finishReason: string,
  paid: Paid,
): ModelFailure {
  const message = argumentsMismatch({ ...call, name: redact(call.name, []) }, finishReason);
  return new ModelFailure('SCHEMA_MISMATCH', message, { ...paid, finishReason });
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

function fieldsOf(response: unknown): Record<string, unknown> {
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

/** Bad gateway, gateway timeout, and the timeout of Cloudflare. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 504, 524]);
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
  unreached: { retryable: true, unreached: true },
  timeout: { retryable: true, cost: unknownCost },
  broken: { retryable: true, cost: unknownCost },
  malformed: { retryable: false, cost: unknownCost },
};

/** The AI SDK's error for what a provider cannot take, such as a type of file. */
const unsupported = 'AI_UnsupportedFunctionalityError';

/** The AI SDK's errors for responses of an unexpected shape. */
const unreadableErrors =
  /^AI_(InvalidResponseData|NoContentGenerated|TypeValidation|JSONParse|EmptyResponseBody)Error$/;

/** The AI SDK wraps errors of its fetch when the cause looks like the network. */
function outboundFailure(error: unknown, depth = 0): OutboundFailure | null {
  if (error instanceof OutboundFailure) return error;
  if (!(error instanceof Error) || depth > 5) return null;
  return outboundFailure(error.cause, depth + 1);
}
