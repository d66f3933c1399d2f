import type { ToolCall } from '../../core/agent/messages.ts';
import type { AnswerDetails } from '../../core/model/model-port.ts';
import type { Answer } from '../port/model.ts';

export interface Finish {
  /** As in `ModelResponse`; `error` if there is no response. */
  readonly finishReason: string;
  /** The provider's error object, if it sent one. */
  readonly providerError: object | null;
}

/** What a response contains. */
interface Received {
  readonly text: string;
  readonly details: Pick<AnswerDetails, 'refusalText' | 'reasoningText'>;
  readonly toolCalls: readonly ToolCall[];
}

/**
 * The finish reason of a response. The AI SDK maps every unknown reason to `other`, failures included. It ignores an
 * error beside partial text (OpenRouter) and the status of a response (OpenAI).
 */
export function readFinish(answer: Answer, received: Received): Finish {
  const { text, details, toolCalls } = received;
  const { refusalText, reasoningText } = details;
  const { finishReason, response } = answer;
  if (refusalText !== null || isFiltered(answer)) {
    return { finishReason: 'content-filter', providerError: null };
  }
  // Google: the model wrote a function call that cannot be read, which is a response without content.
  if (finishReason.raw?.toLowerCase() === 'malformed_function_call') {
    return { finishReason: 'other', providerError: null };
  }
  const reason = reasonOf(finishReason);
  const providerError = providerErrorIn(response?.body);
  const isEmpty = text === '' && reasoningText === null && toolCalls.length === 0;
  const none =
    providerError !== null || isUnended(response?.body) || (reason === 'other' && isEmpty);
  // Some servers report a plain stop.
  const calls = toolCalls.length > 0 && (reason === 'stop' || reason === 'other');
  return { finishReason: none ? 'error' : calls ? 'tool-calls' : reason, providerError };
}

/** Whether the provider names a filter or a refusal as the reason: the text is not an answer. */
export function isFiltered({ finishReason }: Pick<Answer, 'finishReason'>): boolean {
  return reasonOf(finishReason) === 'content-filter';
}

/** In the words of `ModelResponse`. */
export function reasonOf({ unified, raw }: Answer['finishReason']): string {
  return unified === 'other' ? (knownReasons.get(raw?.toLowerCase() ?? '') ?? unified) : unified;
}

/** Reasons of providers and gateways that the AI SDK reports as `other`, in lower case. */
const knownReasons: ReadonlyMap<string, string> = new Map([
  // OpenRouter, Mistral, vLLM, SGLang, DeepSeek, Z.ai
  ['error', 'error'],
  ['failed', 'error'],
  ['cancelled', 'error'],
  ['canceled', 'error'],
  ['timeout', 'error'],
  ['insufficient_system_resource', 'error'],
  ['network_error', 'error'],
  // Bedrock
  ['malformed_model_output', 'error'],
  ['malformed_tool_use', 'error'],
  // Google's own filter, and Z.ai's
  ['model_armor', 'content-filter'],
  ['sensitive', 'content-filter'],
  // Gateways that pass on the reason of Anthropic, Google or Bedrock
  ['refusal', 'content-filter'],
  ['safety', 'content-filter'],
  ['recitation', 'content-filter'],
  ['blocklist', 'content-filter'],
  ['prohibited_content', 'content-filter'],
  ['spii', 'content-filter'],
  ['guardrail_intervened', 'content-filter'],
  ['content_filtered', 'content-filter'],
  // Bedrock, Mistral
  ['model_context_window_exceeded', 'length'],
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['max_length', 'length'],
  // Servers that pass through the reason of their backend: TGI, Together, gateways to Anthropic
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
]);

function providerErrorIn(body: unknown): object | null {
  const { error, choices } = asObject(body);
  const first = Array.isArray(choices) ? asObject(choices[0]).error : null;
  return [first, error].find(isNonEmptyError) ?? null;
}

/** Some servers send an empty error field even on success. */
function isNonEmptyError(error: unknown): error is object {
  return Object.values(asObject(error)).some(
    (value) => !['', 0, null, false].includes(value as null),
  );
}

/** A response of OpenAI's Responses API that failed, was canceled, or is incomplete. */
function isUnended(body: unknown): boolean {
  const { object, status } = asObject(body);
  return object === 'response' && unended.has(status);
}

const unended: ReadonlySet<unknown> = new Set(['failed', 'cancelled', 'in_progress', 'queued']);

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
