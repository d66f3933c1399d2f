import type { EndStatus } from '../src/core/execution/execution.ts';
import type { ExecutionErrorCode } from '../src/core/failure.ts';

/** Possible outcomes of an execution and their frequencies. */

export interface Outcome {
  readonly status: EndStatus;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  /** Out of 1,000. */
  readonly weight: number;
  /** Share of these executions that started, from 0 to 1. */
  readonly started: number;
  readonly attempts: number;
  /** Latency, if it is constant. */
  readonly latencyMs: number | null;
  /** Whether the model used tokens. */
  readonly called: boolean;
  /** A refusal keeps no input; a canceled execution keeps no output. */
  readonly keepsVariables: boolean;
  readonly keepsPrompts: boolean;
}

/** Sorted by status, in the lock order of the service. */
export const outcomes: readonly Outcome[] = [
  {
    ...refused('canceled', 'CANCELED', 'The execution was canceled.', 5),
    started: 0.8,
    attempts: 1,
    keepsVariables: true,
  },
  ended('failed', 'PROVIDER_ERROR', 'The provider answered 502: Bad gateway', 10, 3),
  ended('failed', 'MODEL_TIMEOUT', 'The model did not answer within 300000 ms.', 5),
  ended('failed', 'PROVIDER_RATE_LIMITED', 'The provider answered 429: Slow down', 5, 3),
  ended('failed', 'CONTENT_FILTERED', 'The provider withheld the answer', 3),
  ended('failed', 'CONTEXT_LENGTH', 'The provider answered 400: The prompt is too long', 1.5),
  ended('failed', 'INTERNAL', 'Internal error.', 0.5),
  refused('rate_limited', 'RATE_LIMIT_EXCEEDED', 'Rate limit of the API key exceeded.', 9),
  refused('rate_limited', 'QUOTA_EXCEEDED', 'The AI Actions of this month are used up.', 1),
  ended('success', null, null, 960),
  // Not random: so rare that the seeder chooses each one.
  refused('unauthorized', 'KEY_NOT_AUTHORIZED', 'The API key is not valid for this agent.', 0),
];
export const unauthorized = outcomes.length - 1;

/**
 * One of this many executions has the rare status. A sufficiently long history contains at least
 * one.
 */
export const unauthorizedOneIn = 1_000_000;

export type Source = keyof typeof sourceWeights;
export const sourceWeights = { api: 900, dashboard: 99, workflow: 1 };

export interface SeededModel {
  readonly name: string;
  readonly weight: number;
  readonly latencyMs: number;
  /** Price per token in units of 10⁻¹⁰ dollars. */
  readonly inputPrice: number;
  readonly outputPrice: number;
}

export const models: readonly [SeededModel, SeededModel] = [
  {
    name: 'openai/gpt-5-mini',
    weight: 70,
    latencyMs: 1_400,
    inputPrice: 2_500,
    outputPrice: 20_000,
  },
  {
    name: 'anthropic/claude-haiku-4-5',
    weight: 30,
    latencyMs: 900,
    inputPrice: 10_000,
    outputPrice: 50_000,
  },
];

function ended(
  status: EndStatus,
  errorCode: ExecutionErrorCode | null,
  error: string | null,
  weight: number,
  attempts = 1,
): Outcome {
  return {
    status,
    errorCode,
    error,
    weight,
    attempts,
    started: 1,
    latencyMs: errorCode === 'MODEL_TIMEOUT' ? 300_000 : null,
    called: status === 'success' || errorCode === 'CONTENT_FILTERED',
    keepsVariables: true,
    keepsPrompts: true,
  };
}

function refused(
  status: EndStatus,
  errorCode: ExecutionErrorCode,
  error: string,
  weight: number,
): Outcome {
  return {
    ...ended(status, errorCode, error, weight, 0),
    started: 0,
    called: false,
    keepsVariables: false,
    keepsPrompts: false,
  };
}
