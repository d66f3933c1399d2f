/**
 * Every way a call or an execution can go wrong, as a closed list. `api/errors` maps each call failure to HTTP once;
 * a run failure is what stands in a record's `errorCode`. Those of a workflow's run stand in `core/workflow`.
 */

export const executionErrorCodes = [
  'RATE_LIMIT_EXCEEDED',
  'QUOTA_EXCEEDED',
  'AGENT_NOT_ACTIVE',
  'KEY_NOT_AUTHORIZED',
  'MODEL_TIMEOUT',
  'MODEL_NOT_FOUND',
  'PROVIDER_NOT_CONFIGURED',
  'PROVIDER_AUTH',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_ERROR',
  'CONTEXT_LENGTH',
  'CONTENT_FILTERED',
  'CANCELED',
  'WORKER_LOST',
  'INTERNAL',
] as const;
/** What `errorCode` of a record can hold. */
export type ExecutionErrorCode = (typeof executionErrorCodes)[number];

/**
 * Where a provider's own words stand in a failure's message, which may quote what it was sent. A pattern that JavaScript
 * and PostgreSQL read alike.
 */
export const quotedText = '(The provider answered[^:]*|The call failed): .*';
const quoted = new RegExp(quotedText, 's');

/** The message as it may stay where no bodies do. */
export function withoutQuotedText(message: string): string {
  return message.replace(quoted, '$1.');
}

export const callFailureCodes = [
  'MALFORMED_BODY',
  'INVALID_REQUEST',
  'INVALID_VARIABLES',
  'MISSING_VARIABLES',
  'UNAUTHORIZED',
  'PERMISSION_DENIED',
  'AGENT_NOT_ACTIVE',
  'WORKFLOW_NOT_ACTIVE',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'ILLEGAL_TRANSITION',
  'UNDECLARED_VARIABLES',
  'INVALID_WORKFLOW',
  'ALREADY_ENDED',
  'STALE',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_KEY_REUSED',
  'RATE_LIMIT_EXCEEDED',
  'QUOTA_EXCEEDED',
  'INTERNAL',
  'UNAVAILABLE',
  'OUTCOME_UNKNOWN',
] as const;
/** What `code` of an error answer can hold. */
export type CallFailureCode = (typeof callFailureCodes)[number];

/**
 * A call that is refused. `message` is public text: it must hold nothing internal.
 * `fields` are added to the error answer as they stand, for example `missingVariables`.
 */
export class CallFailure extends Error {
  readonly code: CallFailureCode;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: CallFailureCode, message: string, fields: Record<string, unknown> = {}) {
    super(message);
    this.name = 'CallFailure';
    this.code = code;
    this.fields = fields;
  }
}

/**
 * What is said of a name that was sent and is none of ours.
 *
 * @param named the place, as the beginning of a sentence: `Field "seed"`
 * @param allowed the names that could stand there
 */
export function notKnown(named: string, allowed: readonly string[]): string {
  const [first, ...others] = allowed;
  if (first === undefined) return `${named} is not known: none is allowed.`;
  const are = others.length > 0 ? 'are' : 'is';
  return `${named} is not known: allowed ${are} ${allowed.join(', ')}.`;
}
