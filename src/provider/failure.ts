import { STATUS_CODES } from 'node:http';
import type { RunFailureCode } from '../core/failure.ts';
import { type Cost, ModelFailure, type Usage, unknownCost } from '../core/model.ts';
import { type Complaint, readComplaint } from './complaint.ts';
import { OutboundFailure } from './outbound-failure.ts';
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
  const said = error instanceof Error ? error.message : String(error);
  if (statusCode === undefined) {
    // No answer with a status and not the network: the request could not be put together, or the answer not be read.
    const unread = unreadable.test(error instanceof Error ? error.name : '');
    const message = redact(`The call failed: ${said}`, secrets);
    return new ModelFailure('PROVIDER_ERROR', message, unread ? fates.broken : fates.malformed);
  }
  const complaint = readComplaint(responseBody);
  const status = statusCode < 300 ? (complaint.status ?? statusCode) : statusCode;
  if (status < 300) {
    const message = `The provider's answer could not be read: ${complaint.text ?? said}`;
    return new ModelFailure('PROVIDER_ERROR', redact(message, secrets), fates.broken);
  }
  const { code, retryable } = verdict(status, complaint, responseHeaders);
  const text = complaint.text ?? STATUS_CODES[status] ?? 'no reason given';
  return new ModelFailure(code, redact(`The provider answered ${status}: ${text}`, secrets), {
    retryable,
    retryAfterMs: retryable ? retryAfterMs(responseHeaders, responseBody, nowMs) : 0,
  });
}

/** A model that declined: the provider was paid all the same, so usage and cost stand in the record. */
export function filtered(
  text: string,
  secrets: readonly string[],
  spent: { usage: Usage; cost: Cost },
): ModelFailure {
  const why = text ? `: ${text}` : '.';
  return new ModelFailure(
    'CONTENT_FILTERED',
    redact(`The provider withheld the answer${why}`, secrets),
    spent,
  );
}

/** The fields of the AI SDK's `APICallError` that are used. */
interface ApiError {
  readonly statusCode: number;
  readonly responseHeaders: Record<string, string>;
  readonly responseBody: string;
}

interface Verdict {
  readonly code: RunFailureCode;
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

function final(code: RunFailureCode, retryable = false): Verdict {
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
/** Not "exceeded your current quota": Google says so of the limit of a minute too. */
const quotaWords = /insufficient[ _](quota|balance|credit)/i;
const filterCodes: ReadonlySet<string> = new Set([
  'content_filter',
  'content_policy_violation',
  'responsibleaipolicyviolation',
  'data_inspection_failed',
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
