import type { Model } from './language-model.ts';

type Answer = Awaited<ReturnType<Model['language']['doGenerate']>>;

export interface Ending {
  /** As in `ModelResponse`; `error` also where there is no answer. */
  readonly finishReason: string;
  /** What the provider says of an `error`, where it does. */
  readonly complaint: object | null;
}

/**
 * How an answer ended. The AI SDK calls every reason that it does not know `other`, a failure as well, and looks neither
 * at an error beside what was written until then (OpenRouter) nor at the status of a response (OpenAI).
 */
export function endingOf(
  { finishReason: { unified, raw }, response }: Answer,
  text: string,
): Ending {
  const known = meanings.get(raw?.toLowerCase() ?? '');
  const reason = unified === 'other' ? (known ?? unified) : unified;
  if (reason === 'content-filter') return { finishReason: reason, complaint: null };
  const complaint = complaintIn(response?.body);
  const none =
    complaint !== null || isUnended(response?.body) || (reason === 'other' && text === '');
  return { finishReason: none ? 'error' : reason, complaint };
}

/** Reasons of providers and their gateways that are `other` to the AI SDK, in lower case. */
const meanings: ReadonlyMap<string, string> = new Map([
  // OpenRouter, Mistral, vLLM, SGLang, DeepSeek, Z.ai
  ['error', 'error'],
  ['abort', 'error'],
  ['aborted', 'error'],
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
  // Bedrock, Mistral
  ['model_context_window_exceeded', 'length'],
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  // Servers that pass the reason of what is behind them on: TGI, Together, gateways before Anthropic
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
]);

function complaintIn(body: unknown): object | null {
  const { error, choices } = asObject(body);
  const first = Array.isArray(choices) ? asObject(choices[0]).error : null;
  return [first, error].find(saysSomething) ?? null;
}

/** Some servers write each of their fields, also where there is nothing to complain of. */
function saysSomething(error: unknown): error is object {
  return Object.values(asObject(error)).some(
    (value) => !['', 0, null, false].includes(value as null),
  );
}

/** A response of OpenAI's Responses API that failed, was canceled, or goes on. */
function isUnended(body: unknown): boolean {
  const { object, status } = asObject(body);
  return object === 'response' && unended.has(status);
}

const unended: ReadonlySet<unknown> = new Set(['failed', 'cancelled', 'in_progress', 'queued']);

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
