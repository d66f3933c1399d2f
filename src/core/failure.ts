/**
 * Every error code of a call or an execution, as closed lists. `http/response/error-response.ts` maps each call failure to an
 * HTTP status; an execution error code is stored in a record's `errorCode`. Codes of workflow runs are in
 * `core/workflow`.
 */

export const executionErrorCodes = [
  'RATE_LIMIT_EXCEEDED',
  'QUOTA_EXCEEDED',
  'BUDGET_EXCEEDED',
  'AGENT_NOT_ACTIVE',
  'KEY_NOT_AUTHORIZED',
  'MODEL_TIMEOUT',
  'MODEL_NOT_FOUND',
  'PROVIDER_NOT_CONFIGURED',
  'PROVIDER_AUTH',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_QUOTA',
  'PROVIDER_ERROR',
  'CONTEXT_LENGTH',
  'CONTENT_FILTERED',
  'EMPTY_OUTPUT',
  'SCHEMA_MISMATCH',
  'FILE_UNAVAILABLE',
  'COST_LIMIT',
  'PRICE_UNKNOWN',
  'CANCELED',
  'WORKER_LOST',
  'TOOL_LIMIT',
  'TOOL_SERVER_ERROR',
  'TOOL_OUTCOME_UNKNOWN',
  'INTERNAL',
] as const;
/** The possible `errorCode` of a record. */
export type ExecutionErrorCode = (typeof executionErrorCodes)[number];

/**
 * Matches the quoted provider text in a failure message, which may repeat what was sent, and what is wrong with an output,
 * which may repeat names in it. JavaScript and PostgreSQL read the pattern alike.
 */
export const providerTextPattern =
  '(The provider answered[^:]*|The call failed|The output does not match its schema): .*';
const quoted = new RegExp(providerTextPattern, 's');

/** The message without provider text, for records that store no bodies. */
export function withoutProviderText(message: string): string {
  return message.replace(quoted, '$1.');
}

/** The beginnings of messages whose reason, after a colon, comes from the network or from the server's cloud. */
export const reasonedErrors = {
  unreached: 'Could not reach the provider',
  broken: 'The connection to the provider broke',
  noChain: "The server's credential chain has no credential for the provider",
} as const;

/** The message as a key without `read` sees it: such a reason may name an internal address or the server's identity. */
export function withoutErrorDetails(message: string): string {
  return withoutProviderText(message).replace(reason, '$1.').replace(passedOption, noBound);
}

/** The message for a key without `read`: the reason may name settings of the agent or of its provider. */
export const noBound =
  'It is not known what a call of this agent costs at most, so no limit of cost can hold. A person must set a price or change the agent.';

/** The beginning of messages about an option with which no limit of cost can hold. */
export const optionError = 'With the option "';
const passedOption = new RegExp(`${optionError}.*`, 's');

/** The beginning of messages about a limit of cost, before its amounts. */
export const costLimitError = 'The next call of the model could exceed the limit of cost';

/** The beginning of messages about a budget, which end with amounts. */
export const budgetError = 'The budget "';
const neededAmounts = /: [\d.]+ USD needed, [^"]*$/;

/** The message as a key that sees no cost sees it. That of a workflow run names the step first. */
export function withoutAmounts(message: string): string {
  const at = message.indexOf(costLimitError);
  if (at >= 0) return `${message.slice(0, at)}${costLimitError}.`;
  return message.includes(budgetError) ? message.replace(neededAmounts, '.') : message;
}

// Version 0.1.0 wrote "The provider was not reached".
const begins = [...Object.values(reasonedErrors), 'The provider was not reached'];
const reason = new RegExp(`((?:${begins.join('|')})(?: '[^']*')?): .*`, 's');

export const callFailureCodes = [
  'MALFORMED_BODY',
  'INVALID_REQUEST',
  'INVALID_VARIABLES',
  'MISSING_VARIABLES',
  'MISSING_METADATA',
  'UNAUTHORIZED',
  'PERMISSION_DENIED',
  'AGENT_NOT_ACTIVE',
  'WORKFLOW_NOT_ACTIVE',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'CONFLICT',
  'ILLEGAL_TRANSITION',
  'UNDECLARED_VARIABLES',
  'INVALID_WORKFLOW',
  'ALREADY_ENDED',
  'STALE',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_KEY_REUSED',
  'COST_LIMIT_TOO_LOW',
  'PRICE_UNKNOWN',
  'RATE_LIMIT_EXCEEDED',
  'QUOTA_EXCEEDED',
  'BUDGET_EXCEEDED',
  'BATCH_LIMIT_EXCEEDED',
  'INTERNAL',
  'UNAVAILABLE',
  'OUTCOME_UNKNOWN',
] as const;
/** The possible `code` of an error response. */
export type CallFailureCode = (typeof callFailureCodes)[number];

/**
 * A refused call. `message` is public text and must contain nothing internal. `fields` are added to the error response
 * as they are, for example `missingVariables`.
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

export function invalidRequest(message: string): CallFailure {
  return new CallFailure('INVALID_REQUEST', message);
}

/** For a resource that does not exist or that the caller cannot see. `parent` is the resource that it belongs to. */
export function notFound(what: string, parent?: string): CallFailure {
  const message = parent ? `The ${parent} has no such ${what}.` : `There is no such ${what}.`;
  return new CallFailure('NOT_FOUND', message);
}

/** What was looked up. @throws {CallFailure} if there is none */
export function requireFound<T>(value: T | null | undefined, what: string, parent?: string): T {
  if (value == null) throw notFound(what, parent);
  return value;
}

/**
 * The message for an unknown name.
 * @param named the noun and the name, as the beginning of a sentence: `Field "seed"`
 * @param allowed the names that are allowed there
 */
export function unknownName(named: string, allowed: readonly string[]): string {
  const subject = named.charAt(0).toLowerCase() + named.slice(1);
  return `Unknown ${subject}. Allowed: ${allowed.length > 0 ? allowed.join(', ') : 'none'}.`;
}
