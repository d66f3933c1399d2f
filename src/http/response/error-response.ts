import { CallFailure, type CallFailureCode } from '../../core/failure.ts';
import { isUnavailable } from '../../db/database-error.ts';

/** Maps failure codes to HTTP statuses. */

const statuses: Record<CallFailureCode, { status: number; error: string }> = {
  MALFORMED_BODY: { status: 400, error: 'Bad request' },
  INVALID_REQUEST: { status: 400, error: 'Bad request' },
  INVALID_VARIABLES: { status: 400, error: 'Bad request' },
  MISSING_VARIABLES: { status: 400, error: 'Missing required variables' },
  MISSING_METADATA: { status: 400, error: 'Missing metadata' },
  UNAUTHORIZED: { status: 401, error: 'Unauthorized' },
  PERMISSION_DENIED: { status: 403, error: 'Forbidden' },
  AGENT_NOT_ACTIVE: { status: 403, error: 'Agent not active' },
  WORKFLOW_NOT_ACTIVE: { status: 403, error: 'Workflow not active' },
  NOT_FOUND: { status: 404, error: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, error: 'Method not allowed' },
  REQUEST_TIMEOUT: { status: 408, error: 'Request timeout' },
  CONFLICT: { status: 409, error: 'Conflict' },
  ILLEGAL_TRANSITION: { status: 409, error: 'Illegal transition' },
  UNDECLARED_VARIABLES: { status: 409, error: 'Undeclared variables' },
  INVALID_WORKFLOW: { status: 400, error: 'Invalid workflow' },
  ALREADY_ENDED: { status: 409, error: 'Already ended' },
  STALE: { status: 412, error: 'Precondition failed' },
  BODY_TOO_LARGE: { status: 413, error: 'Body too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, error: 'Unsupported media type' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, error: 'Idempotency key reused' },
  COST_LIMIT_TOO_LOW: { status: 400, error: 'Cost limit too low' },
  PRICE_UNKNOWN: { status: 400, error: 'Price unknown' },
  RATE_LIMIT_EXCEEDED: { status: 429, error: 'Rate limit exceeded' },
  QUOTA_EXCEEDED: { status: 429, error: 'Quota exceeded' },
  BUDGET_EXCEEDED: { status: 429, error: 'Budget exceeded' },
  BATCH_LIMIT_EXCEEDED: { status: 429, error: 'Batch limit exceeded' },
  INTERNAL: { status: 500, error: 'Internal error' },
  UNAVAILABLE: { status: 503, error: 'Service unavailable' },
  OUTCOME_UNKNOWN: { status: 503, error: 'Outcome unknown' },
};

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export function errorResponse(
  failure: { code: CallFailureCode; message: string; fields: Readonly<Record<string, unknown>> },
  requestId: string,
): ErrorResponse {
  const { message, code, fields } = failure;
  const { error, ...usual } = statuses[code];
  // A budget that never resets.
  const isFinal = code === 'BUDGET_EXCEEDED' && fields.retryAfter === undefined;
  const status = isFinal ? 403 : usual.status;
  const headers: Record<string, string> = {};
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (status === 429 || status === 503) headers['retry-after'] = String(fields.retryAfter ?? 1);
  return { status, headers, body: { error, message, code, requestId, ...fields } };
}

/** The failure that a response reports for an error; null for an unexpected error. */
export function asCallFailure(thrown: unknown): CallFailure | null {
  if (thrown instanceof CallFailure) return thrown;
  if (isUnavailable(thrown)) {
    return new CallFailure('UNAVAILABLE', 'The service is unavailable. Try again.', {
      retryAfter: 1,
    });
  }
  return null;
}
