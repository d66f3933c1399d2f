import type { ExecutionErrorCode } from '../../core/failure.ts';
import { wordSet } from '../../core/words.ts';
import type { ProviderErrorBody } from './provider-error.ts';

/** What an error response of a provider means. */
export interface Classification {
  readonly code: ExecutionErrorCode;
  readonly retryable: boolean;
  /** The provider did no work yet: its limit is reached or its model is loading. */
  readonly rejected: boolean;
  /** Whether the model has answered, though not as it should. */
  readonly hasWorked?: true;
}

/**
 * The error code of a status, a body and headers.
 *
 * The order matters. Providers hide the same error behind different statuses: an empty account is a 400, 401, 402, 403,
 * 412 or 429, a forbidden prompt a 400 or 403, an unknown model a 400, 403, 404 or 503. A 429 may mention tokens, and a
 * 403 a filter.
 */
export function classify(
  status: number,
  body: ProviderErrorBody,
  headers: Record<string, string>,
): Classification {
  // Bedrock names its exceptions in a header: `ThrottlingException:http://…`.
  const named = headers['x-amzn-errortype']?.split(':', 1) ?? [];
  const given = new Set([...body.codes, ...named.map((name) => name.toLowerCase())]);
  const text = (body.text ?? '').slice(0, searchedCharsMax);
  const refused = status >= 400 && status < 500;
  const is = ({ codes, text: words }: Signs) => !given.isDisjointFrom(codes) || words.test(text);

  const isFiltered = status === 451 || (refused && status !== 429 && is(filter));
  if (isFiltered) return final('CONTENT_FILTERED');
  if (status === 402 || (refused && isOutOfCredit(given, text))) return final('PROVIDER_QUOTA');
  const isLimited = status === 429 || (refused && !given.isDisjointFrom(throttled));
  // This request alone exceeds a limit per minute, and will do so again.
  const isOverLimit = isLimited ? exceedsLimit(text) : status === 413 && given.has(limitCode);
  if (isOverLimit) return final('PROVIDER_RATE_LIMITED');
  if (isLimited) return waiting;
  // Groq's flexible tier has no capacity left.
  if (status === 498) return waiting;
  // Gateways send the code with a 403 or 503.
  if (status >= 400 && !given.isDisjointFrom(model.codes)) return final('MODEL_NOT_FOUND');
  if (status === 401 || status === 403 || (refused && is(auth))) return final('PROVIDER_AUTH');
  if (status === 410 || (refused && is(model))) return final('MODEL_NOT_FOUND');
  // A 404 about anything else is about the path.
  if (status === 404) return final(namesModel.test(text) ? 'MODEL_NOT_FOUND' : 'PROVIDER_ERROR');
  if ((status === 413 || refused) && isTooLong(given, text)) return final('CONTEXT_LENGTH');
  if (status >= 500 && overflow.test(text)) return final('CONTEXT_LENGTH');
  if (status >= 500 && is(loading)) return { ...again, rejected: true };
  // Groq: the model has called a tool, or written JSON, that does not match its schema.
  if (refused && !given.isDisjointFrom(mismatched)) return { ...again, hasWorked: true };
  // A redirect (3xx) is permanent: a retry gets the same one.
  return status >= 500 || transientStatuses.has(status) ? again : final('PROVIDER_ERROR');
}

/**
 * An error without a status, inside a successful response. If neither code nor text identifies the error, a retry may
 * succeed.
 */
export function classifyHidden(
  body: ProviderErrorBody,
  headers: Record<string, string>,
): Classification {
  const text = (body.text ?? '').slice(0, searchedCharsMax);
  const limited = !body.codes.isDisjointFrom(limit.codes) || limit.text.test(text);
  const found = classify(limited ? 429 : 400, body, headers);
  if (wrongPath.test(text)) return found;
  return found.code === 'PROVIDER_ERROR' ? { ...again, rejected: loading.text.test(text) } : found;
}

/** LM Studio's answer to an unknown path: a retry gets the same one. */
export const wrongPath = /^unexpected endpoint/i;

function final(code: ExecutionErrorCode): Classification {
  return { code, retryable: false, rejected: false };
}

const again: Classification = { code: 'PROVIDER_ERROR', retryable: true, rejected: false };
const waiting: Classification = {
  code: 'PROVIDER_RATE_LIMITED',
  retryable: true,
  rejected: true,
};

/**
 * The part of a text that is searched. The text is untrusted: every pattern below must handle this length quickly,
 * whatever it repeats.
 */
const searchedCharsMax = 4_096;

/**
 * Request timeout, conflict, too early; a dependency that failed (Together, Bedrock); canceled on the provider's side
 * (Google, gateways).
 */
const transientStatuses: ReadonlySet<number> = new Set([408, 409, 424, 425, 499]);

/** In the text of a 404. Not in a path that it repeats: `Cannot POST /models/x`. */
const namesModel = /(?<!\/)\b(models?|deployment|endpoints)\b/i;

/** What identifies an error: codes in lower case, or words. */
interface Signs {
  readonly codes: ReadonlySet<string>;
  readonly text: RegExp;
}

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

/** "Exceeded your current quota" is OpenAI's text for an empty account, and Google's for a limit per minute or day. */
function isOutOfCredit(given: ReadonlySet<string>, text: string): boolean {
  if (!given.isDisjointFrom(quota.codes) || quota.text.test(text)) return true;
  // Google names the limits that are reached, also by day: `GenerateRequestsPerDayPerProjectPerModel`. A limit of 0 is a
  // model that the plan does not include.
  if ([...given].some((code) => perDay.test(code)) || noneAllowed.test(text)) return true;
  const isGoogle = given.has('resource_exhausted') || googleLimit.test(text);
  return currentQuota.test(text) && !isGoogle;
}

const perDay = /perday/;
const noneAllowed = /quota exceeded for (metric|quota).{0,200}?,? limit: 0\b/i;
const currentQuota = /exceeded your current quota/i;
const googleLimit =
  /resource_exhausted|quota exceeded for (metric|quota)|googleapis\.com|retry in /i;

const quota: Signs = {
  // The last three are of DashScope, Volcengine and Zhipu.
  codes: wordSet(`
    insufficient_quota insufficient_user_quota insufficient_balance insufficient_credits
    insufficient_funds exceeded_current_quota_error not_enough_balance billing_error
    billing_not_active billing_hard_limit_reached billing_disabled budget_exceeded
    payment_required invalid_payment_instrument arrearage accountoverdueerror 1113
  `),
  text: anyOf(
    /insufficient[ _](account[ _])?(quota|balance|credit|fund)/,
    /not enough (account )?(quota|balance|credit|fund)/,
    /(credit )?balance is (too low|insufficient|not enough)/,
    /(used|exhausted) (up )?all (of )?(your |its |the )?(available |included |free )?credits/,
    /(doesn't|does not|don't) have any credits/,
    /requires more credits/,
    /(monthly|included) (included )?(credits|spending)\b/,
    /spend(ing)? (limit|cap|alert threshold)/,
    /api usage limits/,
    /budget has been exceeded/,
    /key limit exceeded/,
    /out of call volume quota/,
    /trial key.{0,100}(per|\/) ?month/,
    /invalid_payment_instrument/,
    /account is in good standing/,
    /overdue balance/,
    /(余额|额度)不足|欠费/,
  ),
};

/**
 * Whether a limit will never let this request pass: OpenAI, Azure and Groq say how many tokens it has, and how many are
 * allowed in a minute.
 */
function exceedsLimit(text: string): boolean {
  if (tooLargeForLimit.test(text)) return true;
  const [, allowed = '', wanted = ''] = limitAndRequest.exec(text) ?? [];
  const [limit, requested] = [allowed, wanted].map((digits) => Number(digits.replaceAll(',', '')));
  return Boolean(limit) && Number(requested) > Number(limit);
}

const limitCode = 'rate_limit_exceeded';
const tooLargeForLimit =
  /request (is )?too large for\b|(input or output|prompt) tokens must be reduced|request(ed tokens)? (is|are) (larger|more) than the (rate )?limit/i;
const limitAndRequest =
  /\blimit:? ?(\d[\d,]{0,15})\b(?!\.\d).{0,80}?\brequested:? ?(\d[\d,]{0,15})\b/i;

const mismatched: ReadonlySet<string> = new Set(['tool_use_failed', 'json_validate_failed']);

/** Codes of a limit that come with another status than 429. */
const throttled: ReadonlySet<string> = new Set([
  'throttlingexception',
  'toomanyrequestsexception',
  'ratelimitexceeded',
]);

/** Limits inside a successful response. */
const limit: Signs = {
  codes: new Set([
    ...throttled,
    limitCode,
    'rate_limit_error',
    'too_many_requests',
    'resource_exhausted',
  ]),
  text: /rate[ -]?limit|too many requests/i,
};

const loading: Signs = {
  codes: new Set(['modelnotreadyexception', 'model_loading']),
  text: anyOf(
    /\bloading (the )?model\b/,
    /\bmodel\b.{0,200}?\bis (currently |still )?(loading|warming up|starting up|not ready)/,
  ),
};

const filter: Signs = {
  // `invalid_prompt` is OpenAI's for a prompt that its usage policy forbids, 1301 is Zhipu's; those after it are Volcengine's.
  codes: wordSet(`
    content_filter content_filtered content_policy_violation responsibleaipolicyviolation
    data_inspection_failed moderation_blocked cyber_policy_violation guardrail_violation
    hooks_failed prohibited_content invalid_prompt 1301 sensitivecontentdetected
    inputtextsensitivecontentdetected outputtextsensitivecontentdetected
  `),
  text: anyOf(
    /content[ _]?(management |filter|policy)/,
    /safety (system|filter|check)/,
    /(input|prompt|request) was flagged|flagged (for|as) /,
    /violat\w{1,10} (our |the )?(usage|content|acceptable use|guardrail) (polic|guideline)/,
    /inappropriate content|considered high risk|content exists risk|sensitive (words|content)|(text|image|video|audio) may contain sensitive information|new_sensitive/,
    /responsible ai\b|blocked by (our |the |a )?(content|moderation|guardrail|safety)/,
    /guardrails? (checks? )?(failed|violation|intervened)|violated guardrail/,
    /敏感内容|内容安全|内容违规/,
  ),
};

const auth: Signs = {
  codes: wordSet(`
    api_key_invalid invalid_api_key authentication_error permission_error accessdeniedexception
    expiredtokenexception unrecognizedclientexception
  `),
  text: /api[ _]key (not valid|expired|is invalid)|(invalid|incorrect) api[ _]key/i,
};

const model: Signs = {
  codes: wordSet(`
    model_not_found model_decommissioned model_deprecated model_not_available model_not_supported
    deploymentnotfound invalid_model unknown_model
  `),
  text: anyOf(
    /model\b.{0,200}?\b(not found|(does not|doesn't|not) exist|identifier is invalid|decommissioned|(been|is|was) (discontinued|retired|shut down)|reached (the )?end of (its )?life|on-demand throughput isn.t supported)/,
    /requested model\b.{0,200}?not (supported|available)|non-serverless model/,
    /not a valid model|(invalid|unknown|no such) model\b|模型不存在/,
    /llm provider not provided|no endpoints found|no available channel for model/,
  ),
};

/** The texts of llama.cpp for a prompt that is too long. Others with a 5xx may be about the server's memory. */
const overflow =
  /exceeds? the available context size|(input|prompt|request) is larger than the max context size/i;

/** Whether an error is about the length of the prompt, alone or with the answer, and not about that of another field. */
function isTooLong(given: ReadonlySet<string>, text: string): boolean {
  if (!given.isDisjointFrom(context.codes)) return true;
  return context.text.test(text) && !otherField.test(text);
}

/** Texts about a `maxTokens` that the model could never write, which Groq's compares with the context, and about unknown fields. */
const otherField = anyOf(
  /(?<!(\+|\band) ?[`'"]?)max_?(completion_|output_|new_)?tokens[`'"]? (must be (less|at most|smaller|no more|between)|(cannot|must not) exceed|exceeds|is (above|greater than|larger than) the max)/,
  /(unknown|unrecognized|unsupported|unexpected) .{0,40}(parameter|argument|field|keyword|property)|extra inputs/,
);

const context: Signs = {
  codes: new Set([
    'context_length_exceeded',
    'exceed_context_size_error',
    'model_max_prompt_tokens_exceeded',
    'tokens_limit_reached',
    // Zhipu
    '1261',
  ]),
  text: anyOf(
    // Not of other fields, such as the name of a tool.
    /'(messages\[\d+\]\.content|input(\[\d+\]\.(content|output))?|prompt|instructions)(\[\d+\](\.text)?)?': string too long/,
    /context[ _-]?(length|window|size|limit)|\bn_ctx\b/,
    /(prompt|input|request|message)s? (is|are|was) too (long|large)/,
    /too many (input |prompt )?tokens|model token limit/,
    // OpenAI has such texts about every list and text of a request: "an array with maximum length 128".
    /(?<!\bwith (a )?)maximum (number of )?(input |prompt |context |model )?(tokens(?! you requested)|length)/,
    /token count.{0,80}?(exceeds|but model only supports)|input (tokens|length) exceed|\bmax_model_len\b/,
    /(?<!(max|output|completion|new)[ _])tokens?\b.{0,40}?((cannot|must not) exceed|must be less than max_seq_len)/,
    /requested \d+ tokens exceed the limit of \d|tokens of image and text exceed max message tokens/,
    /exceeds (the )?max(imum)? (allowed )?(token|input|prompt)|the max input (characters|length|tokens) is \d/,
    /inputs?`?( tokens)? (\+ .?max_new_tokens|must have less than)|range of input length|reduce the length/,
    /超长|超出.{0,20}长度/,
  ),
};
