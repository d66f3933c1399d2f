import { budgetError, type CallFailureCode, callFailureCodes } from '../../core/failure.ts';
import { words } from '../../core/words.ts';
import { type ErrorResponse, errorResponse } from './error-response.ts';

/** Errors of the OpenAI API: the status and headers of any other error, and a body that clients of OpenAI read. */

interface Failure {
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The paths of the OpenAI API. */
export function isOpenAIPath(url: string): boolean {
  return url.startsWith('/v1/');
}

/** Clients wait this long at most before they retry by themselves. */
const retryAfterSecondsMax = 60;

export function openaiErrorResponse(failure: Failure, requestId: string): ErrorResponse {
  const { status, headers } = errorResponse(failure, requestId);
  const { message, fields } = failure;
  const [type, code] = typeAndCode(failure, status);
  const isHopeless = Number(headers['retry-after'] ?? 0) > retryAfterSecondsMax;
  // Clients retry a conflict, and a call that may have been accepted would execute twice.
  const isUnsafe = status === 409 || failure.code === 'OUTCOME_UNKNOWN';
  return {
    status,
    headers: { ...headers, ...((isHopeless || isUnsafe) && { 'x-should-retry': 'false' }) },
    body: { error: { message, type, param: fields.parameter ?? null, code } },
  };
}

/** The failure in the body of an error response; for metrics. */
export function failureCodeIn(body: { readonly error?: unknown }): CallFailureCode | null {
  const { code: coded, message } = (body.error ?? {}) as { code?: unknown; message?: unknown };
  const code = String(coded);
  // Clients get one code for both.
  const isBudget = code === 'insufficient_quota' && String(message).startsWith(budgetError);
  if (isBudget) return 'BUDGET_EXCEEDED';
  const named = Object.entries(codes).find(([, [, name]]) => name === code)?.[0];
  if (code === 'model_not_found' || code === 'response_not_found') return 'NOT_FOUND';
  if (parameterCodes.includes(code)) return 'INVALID_REQUEST';
  return callFailureCodes.find((one) => one === (named ?? code.toUpperCase())) ?? null;
}

const parameterCodes = words(`
  unsupported_parameter unknown_parameter missing_required_parameter invalid_type invalid_value
`);

/** The failure of an execution. Clients must not repeat a paid call by themselves. */
export function executionErrorResponse(
  { errorCode, message }: { readonly errorCode: string; readonly message: string },
  executionId: string,
): ErrorResponse {
  return {
    status: errorCode === 'MODEL_TIMEOUT' ? 504 : 502,
    headers: { 'x-should-retry': 'false' },
    body: {
      error: {
        message,
        type: 'server_error',
        param: null,
        code: errorCode,
        response_id: executionId,
      },
    },
  };
}

function typeAndCode({ code, fields }: Failure, status: number): readonly [string, string] {
  if (typeof fields.parameterCode === 'string') return [invalid, fields.parameterCode];
  const named = codes[code];
  if (named) return named;
  return [status >= 500 ? 'server_error' : invalid, code.toLowerCase()];
}

const invalid = 'invalid_request_error';

const codes: Partial<Record<CallFailureCode, readonly [string, string]>> = {
  UNAUTHORIZED: [invalid, 'invalid_api_key'],
  PERMISSION_DENIED: [invalid, 'insufficient_permissions'],
  MALFORMED_BODY: [invalid, 'invalid_json'],
  INVALID_REQUEST: [invalid, 'invalid_value'],
  INVALID_VARIABLES: [invalid, 'invalid_value'],
  MISSING_VARIABLES: [invalid, 'missing_required_parameter'],
  RATE_LIMIT_EXCEEDED: ['requests', 'rate_limit_exceeded'],
  QUOTA_EXCEEDED: ['insufficient_quota', 'insufficient_quota'],
  BUDGET_EXCEEDED: ['insufficient_quota', 'insufficient_quota'],
  UNAVAILABLE: ['server_error', 'service_unavailable'],
  INTERNAL: ['server_error', 'internal_error'],
};
