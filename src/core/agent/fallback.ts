import type { ExecutionErrorCode } from '../failure.ts';

/**
 * Fallback models: an agent may name several models. A failure that another model may not share moves the execution to
 * the next one; the first that answers is used.
 */

/** Failures that `fallbackOn` may name. Never those of authentication: every execution would hide a broken key. */
export const fallbackCodes = [
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_QUOTA',
  'PROVIDER_ERROR',
  'MODEL_TIMEOUT',
  'MODEL_NOT_FOUND',
  'CONTEXT_LENGTH',
  'CONTENT_FILTERED',
  'EMPTY_OUTPUT',
  'SCHEMA_MISMATCH',
] as const satisfies readonly ExecutionErrorCode[];
export type FallbackCode = (typeof fallbackCodes)[number];

/** Without `fallbackOn`. */
const byDefault: readonly ExecutionErrorCode[] = [
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_QUOTA',
  'PROVIDER_ERROR',
  'MODEL_TIMEOUT',
  'CONTEXT_LENGTH',
];
/** Without `fallbackOn`, a shorter wait for a rate limit is waited out. */
const waitMsMax = 30_000;

export interface FallbackSettings {
  /** In order; the first is the agent's model. */
  readonly models?: string[];
  readonly fallbackOn?: FallbackCode[];
  /** The limit of one attempt, in milliseconds. */
  readonly attemptTimeoutMs?: number;
}

/** The models from the current one on. */
function remaining({ models = [] }: FallbackSettings, current: string): readonly string[] {
  return models.slice(Math.max(0, models.indexOf(current)));
}

/**
 * The model that follows the current one after this failure; null if none does.
 * @param waitMs until the current model may be called again
 */
export function fallbackModel(
  settings: FallbackSettings,
  current: string,
  failure: { readonly code: ExecutionErrorCode; readonly waitMs: number },
): string | null {
  const next = remaining(settings, current)[1];
  if (next === undefined) return null;
  const { code, waitMs } = failure;
  const codes: readonly ExecutionErrorCode[] = settings.fallbackOn ?? byDefault;
  if (!codes.includes(code)) return null;
  const waits = !settings.fallbackOn && code === 'PROVIDER_RATE_LIMITED' && waitMs <= waitMsMax;
  return waits ? null : next;
}

/** The time limit of one attempt: the agent's, else an equal share for each model that is left. */
export function attemptLimitMs(
  settings: FallbackSettings,
  current: string,
  leftMs: number,
): number {
  const share = leftMs / Math.max(1, remaining(settings, current).length);
  return Math.min(leftMs, settings.attemptTimeoutMs ?? share);
}
