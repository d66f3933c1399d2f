import type { ExecutionErrorCode } from '../failure.ts';
import type { Price } from './price.ts';
import type { StoredProvider } from './provider.ts';

/**
 * The port to the models. A `provider/model` name goes in, text and usage come out, or a `ModelFailure`.
 * The engine retries; a model never does.
 */
export interface ModelPort {
  call(call: ModelCall): Promise<ModelResponse>;
}

/**
 * Asks a provider of the workspace whether it is reached and takes its credential, without running a model. What is
 * wrong is thrown as a `ModelFailure`.
 */
export type TestConnection = (
  workspaceId: string,
  providerName: string,
  provider: StoredProvider,
) => Promise<void>;

/** What a workspace has stored under the two names of a model, its provider's and its own; null where it has nothing. */
export interface ModelSetup {
  readonly provider: StoredProvider | null;
  readonly price: Price | null;
}

export interface ModelCall {
  readonly executionId: string;
  readonly workspaceId: string;
  /** `provider/model`, for example `openai/gpt-5.5` or `cueline/echo?delay=250`. */
  readonly model: string;
  /** Read when the run was accepted or claimed, of which the call is the very next thing. */
  readonly setup: ModelSetup;
  readonly system: string | null;
  readonly user: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
  /** For the whole call, in milliseconds: the port ends it then as `MODEL_TIMEOUT`. It adds shorter ones of its own. */
  readonly timeoutMs: number;
  /** Whether the run may have called its model before: only then its time runs while it waits in line for room. */
  readonly called: boolean;
  /** Aborted on cancel, drain and a lost lease. */
  readonly signal: AbortSignal;
}

export interface ModelResponse {
  readonly text: string;
  readonly usage: Usage;
  /** `stop`, `length`, `content-filter`, `tool-calls`, `error` or `other`. */
  readonly finishReason: string;
  readonly cost: Cost;
}

/** Tokens. `inputTokens` holds the cached ones too; they are priced apart. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** `usd` is a decimal text, never a float, with at most 10 places; `known` is false where no price is known. */
export interface Cost {
  readonly usd: string;
  readonly known: boolean;
}

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
export const noCost: Cost = { usd: '0', known: true };
export const unknownCost: Cost = { usd: '0', known: false };

/** Failures that a later attempt can mend; all others end the run at once. */
const retryable: ReadonlySet<ExecutionErrorCode> = new Set([
  'MODEL_TIMEOUT',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_ERROR',
]);

/** What a model call throws. `message` goes into the record: secrets are removed before. */
export class ModelFailure extends Error {
  readonly code: ExecutionErrorCode;
  /** What the provider's Retry-After asked for, in milliseconds; 0 where it said nothing. */
  readonly retryAfterMs: number;
  /** False where a repeat cannot help though the code usually can, such as a request the provider refuses. */
  readonly retryable: boolean;
  readonly usage: Usage;
  readonly cost: Cost;

  constructor(
    code: ExecutionErrorCode,
    message: string,
    more: { retryAfterMs?: number; retryable?: boolean; usage?: Usage; cost?: Cost } = {},
  ) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryAfterMs = more.retryAfterMs ?? 0;
    this.retryable = more.retryable ?? retryable.has(code);
    this.usage = more.usage ?? noUsage;
    this.cost = more.cost ?? noCost;
  }
}

const modelName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[^\s]{1,191}$/;

/** Whether a text has the form `provider/model`. Whether that model exists only the provider can say. */
export function isModelName(text: string): boolean {
  return modelName.test(text);
}

/** Splits `provider/model` at the first slash; the model part may hold more of them. */
export function splitModelName(text: string): { provider: string; model: string } {
  const slash = text.indexOf('/');
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/** Thrown instead of a call that was not made, since its provider is left alone or has enough to do: try again later. */
export class ModelDeferred extends Error {
  readonly afterMs: number;
  /** What a run ends with that has not so much time left. */
  readonly code: ExecutionErrorCode;
  /** The provider does answer, only it has as many calls as it may have. */
  readonly full: boolean;

  constructor(afterMs: number, code: ExecutionErrorCode, full = false) {
    super(`not called, to be tried again after ${Math.round(afterMs)} ms`);
    this.name = 'ModelDeferred';
    this.afterMs = afterMs;
    this.code = code;
    this.full = full;
  }
}
