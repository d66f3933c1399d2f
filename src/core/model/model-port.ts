import type { CallSettings } from '../agent/call-settings.ts';
import type { Message, ToolCall } from '../agent/messages.ts';
import type { ProviderMessage } from '../agent/provider-message.ts';
import type { ResponseFormat } from '../agent/response-format.ts';
import type { Tool, ToolChoice } from '../agent/version-content.ts';
import type { ExecutionErrorCode } from '../failure.ts';
import type { ListedPrice, Price } from './price.ts';
import type { ProviderKind, StoredProvider } from './provider.ts';

/**
 * The model port: a `provider/model` name and prompts go in, events come out. The engine retries; the port never does.
 *
 * A call that succeeds emits `finish` last. It throws a `ModelFailure` if it failed, a `ModelDeferred` if no call was
 * made, the reason of its signal if that aborted it, and any other error for a defect. `emit` must not throw.
 * `collectResponse` (`model-events.ts`) reads a whole response.
 */
export interface ModelPort {
  call(call: ModelCall, emit: Emit): Promise<void>;
}

export type Emit = (event: ModelEvent) => void;

/**
 * Text and reasoning arrive in pieces if the call asks for a stream, else at once; they never split a surrogate pair.
 * The texts together are the text of the response. A tool call is complete. Before the end, a usage is what is known so far;
 * the last one counts.
 */
export type ModelEvent =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'toolCall'; readonly toolCall: ToolCall }
  | { readonly type: 'usage'; readonly usage: Usage; readonly cost: Cost }
  | ({ readonly type: 'finish' } & Pick<
      ModelResponse,
      'finishReason' | 'settingsNotApplied' | 'details'
    >);

/**
 * Checks that a workspace's provider is reachable and accepts the credential, without running a model, or with one small
 * call of a model if one is named. Throws a `ModelFailure` that says what is wrong; the failure of a call is part of
 * what was tried.
 */
export type TestConnection = (
  workspaceId: string,
  providerName: string,
  provider: StoredProvider,
  model: string | null,
) => Promise<TriedCall | undefined>;

/** What the server knows about providers without an execution. */
export interface ProviderDirectory {
  /** Configured by the server's environment, for all workspaces. */
  readonly environment: readonly { readonly name: string; readonly kind: ProviderKind }[];
  /**
   * The names of the models that a provider lists, without its prefix. Null: the provider of this name from the environment.
   * Empty if it has no list. Throws a `ModelFailure`.
   */
  listModels(
    workspaceId: string,
    providerName: string,
    provider: StoredProvider | null,
  ): Promise<string[]>;
  /** The built-in prices of its models, by names without its prefix; empty if it is not configured. */
  listedPrices(
    workspaceId: string,
    providerName: string,
    provider: StoredProvider | null,
  ): ListedPrice[];
}

/** One call of a model, made for a person to read. */
export interface TriedCall extends Exchange {
  readonly latencyMs: number;
  readonly failure: ModelFailure | null;
}

/** An HTTP request as it was sent, and what came back; null if nothing was sent or came back. Contains no secret. */
export interface Exchange {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  } | null;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  } | null;
}

/** What a workspace has stored for a model: its provider and its price; null where nothing is stored. */
export interface ModelSetup {
  readonly provider: StoredProvider | null;
  readonly price: Price | null;
}

export interface ModelCall {
  readonly executionId: string;
  readonly workspaceId: string;
  /** `provider/model`, for example `openai/gpt-5.5` or `cueline/echo?delay=250`. */
  readonly model: string;
  /** Read when the execution was accepted or claimed, directly before the call. */
  readonly setup: ModelSetup;
  readonly system: string | null;
  readonly user: string;
  /** Absent for text. The port asks for the format, and does not check it. */
  readonly responseFormat?: ResponseFormat;
  /** Why the previous answer was not accepted, which is sent to the model. */
  readonly correction?: string;
  /** Whether text is passed on as it arrives. */
  readonly stream?: boolean;
  /** Sent instead of `system` and `user`. */
  readonly messages?: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
  /** Left out if there are none. */
  readonly settings?: CallSettings;
  /**
   * For the whole call, in milliseconds, after which it fails with `MODEL_TIMEOUT`. The port has shorter timeouts of
   * its own.
   */
  readonly timeoutMs: number;
  /** The time until the deadline of the execution, in milliseconds; `timeoutMs` by default. */
  readonly leftMs?: number;
  /**
   * Whether an earlier attempt may have called the model: only then does time spent waiting for a free connection
   * count.
   */
  readonly called: boolean;
  /** Aborted on cancel, drain and a lost lease. */
  readonly signal: AbortSignal;
}

/** A response as a whole. */
export interface ModelResponse {
  readonly text: string;
  readonly usage: Usage;
  /** `stop`, `length`, `content-filter`, `tool-calls`, `error` or `other`. */
  readonly finishReason: string;
  readonly cost: Cost;
  /** Calls of the offered tools; left out if there are none. */
  readonly toolCalls?: readonly ToolCall[];
  /** Settings that the model rejected or ignored, by their Cueline names; left out by models that apply all. */
  readonly settingsNotApplied?: readonly string[];
  /** Left out by models that report nothing else. */
  readonly details?: AnswerDetails;
}

/** What a provider's response says beside its text; null where it says nothing. */
export interface AnswerDetails {
  readonly reasoningText: string | null;
  /** Part of the output tokens. */
  readonly reasoningTokens: number | null;
  /** The model's name as the provider reports it, which may be more exact than the one requested. */
  readonly modelAnswered: string | null;
  readonly providerRequestId: string | null;
  readonly refusalText: string | null;
  /** Why the provider ended its response, in its own word; `finishReason` is Cueline's. */
  readonly providerFinishReason: string | null;
  /** With calls of tools, the message as the provider sent it; left out if that is no more than text and calls. */
  readonly message?: ProviderMessage;
  /** The text that asked for JSON, as the end of the system texts; left out if none did. */
  readonly instruction?: string;
}

export const noDetails: AnswerDetails = {
  reasoningText: null,
  reasoningTokens: null,
  modelAnswered: null,
  providerRequestId: null,
  refusalText: null,
  providerFinishReason: null,
};

/** Tokens. `inputTokens` includes cached tokens, which are priced separately. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** `usd` is a decimal text, never a float, with at most 10 places; `known` is false if no price is known. */
export interface Cost {
  readonly usd: string;
  readonly known: boolean;
  /** Where the amount comes from; left out if there is none. */
  readonly source?: 'table' | 'workspace' | 'provider';
  /** Of the workspace's price. */
  readonly priceId?: number;
}

/** Where the cost of a record comes from. */
export const costSources = ['table', 'workspace', 'provider', 'unknown'] as const;
export type CostSource = (typeof costSources)[number];

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
export const noCost: Cost = { usd: '0', known: true };
export const unknownCost: Cost = { usd: '0', known: false };

/** Failures that a later attempt may resolve; all others end the execution at once. */
const retryable: ReadonlySet<ExecutionErrorCode> = new Set([
  'MODEL_TIMEOUT',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_ERROR',
  'EMPTY_OUTPUT',
  'SCHEMA_MISMATCH',
]);

/** A failed model call. `message` goes into the record, with secrets removed. */
export class ModelFailure extends Error {
  readonly code: ExecutionErrorCode;
  /** The provider's Retry-After in milliseconds; 0 if it gave none. */
  readonly retryAfterMs: number;
  /** False if a retry cannot help although the code usually allows one, such as a request that the provider rejects. */
  readonly retryable: boolean;
  /**
   * The provider did no work: its rate limit is reached or its model is loading. The execution waits in the queue, and
   * the call counts as no attempt.
   */
  readonly rejected: boolean;
  /** No connection was made: the failure belongs to the base URL. */
  readonly unreached: boolean;
  readonly usage: Usage;
  readonly cost: Cost;
  /** The path of the field that kept a response from being read, for the log; null for other failures. */
  readonly unreadableField: string | null;
  /** Of a response without a text that counts; null if there was no response. */
  readonly finishReason: string | null;
  readonly details: AnswerDetails;

  constructor(
    code: ExecutionErrorCode,
    message: string,
    more: {
      retryAfterMs?: number;
      retryable?: boolean;
      rejected?: boolean;
      unreached?: boolean;
      usage?: Usage;
      cost?: Cost;
      unreadableField?: string;
      finishReason?: string;
      details?: AnswerDetails;
    } = {},
  ) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryAfterMs = more.retryAfterMs ?? 0;
    this.retryable = more.retryable ?? retryable.has(code);
    this.rejected = more.rejected ?? false;
    this.unreached = more.unreached ?? false;
    this.usage = more.usage ?? noUsage;
    this.cost = more.cost ?? noCost;
    this.unreadableField = more.unreadableField ?? null;
    this.finishReason = more.finishReason ?? null;
    this.details = more.details ?? noDetails;
  }
}

/** The same failure with what the response said. */
export function withDetails(failure: ModelFailure, details: AnswerDetails): ModelFailure {
  const { code, message, finishReason, unreadableField, ...rest } = failure;
  return new ModelFailure(code, message, {
    ...rest,
    ...(finishReason !== null && { finishReason }),
    ...(unreadableField !== null && { unreadableField }),
    details,
  });
}

const modelName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[^\s]{1,191}$/;

/** Whether a text has the form `provider/model`. Only the provider knows whether the model exists. */
export function isModelName(text: string): boolean {
  return modelName.test(text);
}

/** Splits `provider/model` at the first slash; the model part may contain more. */
export function splitModelName(text: string): { provider: string; model: string } {
  const slash = text.indexOf('/');
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/**
 * Thrown instead of making a call because the provider's breaker is open or its connections are in use: try again
 * later.
 */
export class ModelDeferred extends Error {
  readonly afterMs: number;
  /** The error code of an execution that cannot wait that long. */
  readonly code: ExecutionErrorCode;
  /** True if the provider responds but has its maximum of calls in flight. */
  readonly full: boolean;

  constructor(afterMs: number, code: ExecutionErrorCode, full = false) {
    super(`not called, to be tried again after ${Math.round(afterMs)} ms`);
    this.name = 'ModelDeferred';
    this.afterMs = afterMs;
    this.code = code;
    this.full = full;
  }
}
