import type { Execution } from '../../core/execution/execution-fields.ts';
import { toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import { argumentsText, mayReadReasoning, seconds, toolCallsOf } from './response-wire.ts';

/** A successful execution as a completion of the Chat Completions API. */

export function completionWire(
  row: Execution,
  model: string,
  viewer: Pick<Caller, 'rights'>,
): Record<string, unknown> {
  const toolCalls = chatToolCalls(row);
  const reasoning = mayReadReasoning(viewer) ? row.reasoningText : null;
  const message = {
    role: 'assistant',
    content: row.output === '' && toolCalls.length > 0 ? null : row.output,
    refusal: row.refusalText,
    // Not in OpenAI's API, but in that of most servers that speak it.
    ...(reasoning !== null && { reasoning_content: reasoning }),
    annotations: [],
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
  return {
    id: toId('execution', row.id),
    object: 'chat.completion',
    created: seconds(row.executedAt),
    model,
    choices: [{ index: 0, message, finish_reason: chatFinishReason(row), logprobs: null }],
    usage: chatUsage(row),
    service_tier: 'default',
    system_fingerprint: null,
  };
}

export function chatToolCalls(row: Execution) {
  return toolCallsOf(row).map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call) },
  }));
}

export function chatFinishReason({ finishReason }: Execution): string {
  const named: Readonly<Record<string, string>> = {
    length: 'length',
    'content-filter': 'content_filter',
    'tool-calls': 'tool_calls',
  };
  return named[finishReason ?? ''] ?? 'stop';
}

export function chatUsage({ inputTokens, outputTokens, reasoningTokens }: Execution) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
  };
}
