import type { ToolCall } from '../agent/messages.ts';
import type { Prompt } from '../agent/prompt.ts';
import type { ExecutionErrorCode } from '../failure.ts';
import {
  type AnswerDetails,
  type Cost,
  noCost,
  noDetails,
  noUsage,
  type Usage,
} from '../model/model-port.ts';
import type { Attempt } from './attempt.ts';
import type { EndStatus } from './execution.ts';
import { nothingSpent, type Spent } from './queued-execution.ts';

/** What an attempt, a cancel, a deadline or a lost worker yields: the execution has ended, or returns to the queue. */
export type Outcome = Ended | Retry;

export interface Ended {
  readonly kind: 'ended';
  readonly status: Extract<EndStatus, 'success' | 'failed' | 'canceled'>;
  /** Whether this attempt counts: it called the model, or its worker died before it could tell. */
  readonly counted: boolean;
  readonly usage: Usage;
  readonly cost: Cost;
  readonly finishReason: string | null;
  readonly settingsNotApplied: readonly string[];
  readonly details: AnswerDetails;
  /** How long the call of this attempt took; null if there was none, or it was aborted. */
  readonly attemptMs: number | null;
  /** From the first start to the first text of the attempt; null if it was not read as a stream. */
  readonly firstTextMs: number | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  /** As sent; null if it is not recorded. */
  readonly prompt: Prompt | null;
  /** Why the previous answer was not accepted, which the last call sent to the model; null if none was rejected. */
  readonly correction: string | null;
  readonly output: string | null;
  /** The JSON in the output, as compact text; null if the agent does not ask for it. */
  readonly outputJson: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** Of the conversation that ends with these calls; null if `details` has no message for the next turn. */
  readonly messageDigest: string | null;
  /** What a canceled call had received; null if nothing. */
  readonly partialText: string | null;
}

/** By default, nothing was called. */
export function ended(outcome: Pick<Ended, 'status'> & Partial<Ended>): Ended {
  return { ...uncalled, ...outcome };
}

const uncalled: Omit<Ended, 'status'> = {
  kind: 'ended',
  counted: true,
  usage: noUsage,
  cost: noCost,
  finishReason: null,
  settingsNotApplied: [],
  details: noDetails,
  attemptMs: null,
  firstTextMs: null,
  errorCode: null,
  error: null,
  prompt: null,
  correction: null,
  output: null,
  outputJson: null,
  toolCalls: [],
  messageDigest: null,
  partialText: null,
};

export function failed(
  errorCode: ExecutionErrorCode,
  error: string,
  more: Partial<Ended> = {},
): Ended {
  return ended({ status: 'failed', errorCode, error, ...more });
}

export interface Retry {
  readonly kind: 'retry';
  readonly delayMs: number;
  /** The attempt that failed; null if there was none. */
  readonly failed: Attempt | null;
  /** Whether the provider rejected a call before any work, which is no attempt. */
  readonly rejected: boolean;
  /** Why the output did not match its schema; null if that was not the failure. */
  readonly mismatch: string | null;
  /** The model that is called from now on; null if it stays the same. */
  readonly fallback: string | null;
  /** The error code if the deadline comes before the provider can be called. */
  readonly waitCode: ExecutionErrorCode | null;
  /** Whether the execution counts as not started, so that its timeout does not count down, as if it waited for a slot. */
  readonly unstarted: boolean;
  readonly spent: Spent;
}

/** By default, exactly as it was claimed. */
export function retry(outcome: Partial<Retry> = {}): Retry {
  return { ...unchanged, ...outcome };
}

const unchanged: Retry = {
  kind: 'retry',
  delayMs: 0,
  failed: null,
  rejected: false,
  mismatch: null,
  fallback: null,
  waitCode: null,
  unstarted: false,
  spent: nothingSpent,
};
