import type { Conversation } from '../../core/agent/conversation.ts';
import type { ToolCall } from '../../core/agent/messages.ts';
import { reasoningOf, type SuppliedReasoning } from '../../core/agent/provider-message.ts';
import type { ResponseFormat } from '../../core/agent/response-format.ts';
import type { Tool, ToolChoice } from '../../core/agent/version-content.ts';
import type { Execution } from '../../core/execution/execution-fields.ts';
import { toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { AppliedSettings } from '../../engine/admit/admit.ts';
import { visibleError } from '../../features/people/access/visible-resources.ts';
import type { Parameters } from './read-parameters.ts';

/** An execution as a response of the Responses API. */

export interface ShownCall {
  readonly caller: Reader;
  /** What the client calls the agent. */
  readonly model: string;
  readonly isBackground: boolean;
  /** The reference to a prompt as sent; null if there is none, or the execution is read later. */
  readonly prompt: Parameters | null;
  /** What the caller sent; null if the execution is read later. */
  readonly conversation: Conversation | null;
  /** The settings that apply; null if only the record tells. */
  readonly settings: AppliedSettings | null;
}

export function responseWire(row: Execution, shown: ShownCall): Record<string, unknown> {
  const { conversation, caller } = shown;
  const settings = readable(shown.settings, caller);
  const additions = conversation?.additions;
  const sent = sentWith(row, caller);
  return {
    id: toId('execution', row.id),
    object: 'response',
    created_at: seconds(row.executedAt),
    completed_at: row.completedAt && row.status === 'success' ? seconds(row.completedAt) : null,
    status: statusOf(row),
    background: shown.isBackground,
    error: errorOf(row, caller),
    incomplete_details: incompleteDetails(row),
    instructions: additions?.instructions ?? null,
    model: shown.model,
    output: outputItems(row, caller),
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt: shown.prompt && promptWire(shown.prompt),
    store: true,
    // OpenAI's defaults: clients expect numbers.
    temperature: readable(row.temperature, caller) ?? 1,
    top_p: settings?.topP ?? 1,
    max_output_tokens: settings?.maxTokens ?? null,
    max_tool_calls: null,
    presence_penalty: settings?.settings.presencePenalty ?? sent.settings?.presencePenalty ?? 0,
    frequency_penalty: settings?.settings.frequencyPenalty ?? sent.settings?.frequencyPenalty ?? 0,
    reasoning: {
      effort: settings?.settings.reasoningEffort ?? sent.settings?.reasoningEffort ?? null,
      summary: null,
    },
    text: { format: formatWire(settings?.responseFormat ?? conversation?.responseFormat) },
    tools: (sent.tools ?? additions?.tools ?? []).map(toolWire),
    tool_choice: toolChoiceWire(sent.toolChoice ?? additions?.toolChoice ?? null),
    top_logprobs: 0,
    truncation: 'disabled',
    service_tier: settings?.settings.serviceTier ?? sent.settings?.serviceTier ?? 'default',
    usage: row.status === 'processing' ? null : usageWire(row),
    user: conversation ? (conversation.labels?.user ?? null) : readable(row.user, caller),
    safety_identifier: null,
    prompt_cache_key: null,
    metadata: JSON.parse(
      (conversation ? conversation.labels?.metadata : readable(row.metadata, caller)) ?? '{}',
    ),
  };
}

function promptWire({ id, version = null, variables = null }: Parameters) {
  return { id, version, variables };
}

/** A key without `read` may be in a web page: it sees what came out, not what went in or how the agent is set. */
function readable<T>(value: T, { rights }: Pick<Caller, 'rights'>): T | null {
  return rights.includes('read') ? value : null;
}

/** As for the record, which shows it as well. */
export function mayReadReasoning({ rights }: Pick<Caller, 'rights'>): boolean {
  return rights.includes('read');
}

type Reader = Pick<Caller, 'rights' | 'allowedOrigins'>;

interface SentWith {
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly settings?: Partial<AppliedSettings['settings']>;
}

function sentWith(row: Execution, caller: Pick<Caller, 'rights'>): SentWith {
  return JSON.parse(readable(row.request, caller) ?? '{}');
}

export function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

export function statusOf(row: Execution): string {
  switch (row.status) {
    case 'processing':
      return row.startedAt ? 'in_progress' : 'queued';
    case 'success':
      return incompleteDetails(row) ? 'incomplete' : 'completed';
    case 'canceled':
      return 'cancelled';
    default:
      return 'failed';
  }
}

function incompleteDetails({ status, finishReason }: Execution) {
  if (status !== 'success') return null;
  if (finishReason === 'length') return { reason: 'max_output_tokens' };
  return finishReason === 'content-filter' ? { reason: 'content_filter' } : null;
}

function errorOf(row: Execution, caller: Reader) {
  if (row.status === 'canceled' || row.errorCode === null) return null;
  // Clients such as `@ai-sdk/openai` reject an error without a type.
  return { type: 'server_error', code: row.errorCode, message: errorText(row, caller) };
}

export function errorText({ error }: Pick<Execution, 'error'>, caller: Reader): string {
  return visibleError(caller, error) ?? '';
}

export function usageWire({ inputTokens, outputTokens, reasoningTokens }: Execution) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: inputTokens + outputTokens,
  };
}

/** The reasoning, the message, then the calls of tools. Identifiers follow from that of the execution. */
export function outputItems(
  row: Execution,
  caller: Pick<Caller, 'rights'>,
): Record<string, unknown>[] {
  const { output, refusalText } = row;
  const text = output ?? '';
  const content = [
    ...(text === '' ? [] : [outputText(text)]),
    ...(refusalText === null ? [] : [{ type: 'refusal', refusal: refusalText }]),
  ];
  const calls = toolCallsOf(row);
  // A success without an output has lost its bodies: an empty message would be an answer that nobody gave.
  const isAnswered = row.status === 'success' && output !== null && calls.length === 0;
  const isSilent = content.length === 0 && !isAnswered;
  const status = statusOf(row) === 'incomplete' ? 'incomplete' : 'completed';
  return [
    ...reasoningItems(row, caller),
    ...(isSilent
      ? []
      : [
          {
            ...messageItem(row.id, status),
            content: content.length > 0 ? content : [outputText('')],
          },
        ]),
    ...calls.map((call, index) => functionCallItem(row.id, call, index)),
  ];
}

function reasoningItems(row: Execution, caller: Pick<Caller, 'rights'>) {
  const { id, status, assistantMessage, reasoningText } = row;
  if (status !== 'success' || !mayReadReasoning(caller)) return [];
  const sent = assistantMessage === null ? [] : reasoningOf(JSON.parse(assistantMessage));
  const text = reasoningText === null ? [] : [{ text: reasoningText }];
  const parts: readonly SuppliedReasoning[] = sent.length > 0 ? sent : text;
  return parts.map((part, index) => ({
    ...reasoningItem(id, 'completed', index),
    summary: part.text ? [summaryText(part.text)] : [],
    ...(part.encrypted !== undefined && { encrypted_content: part.encrypted }),
  }));
}

export function reasoningItem(executionId: string, status: string, index = 0) {
  const summary: unknown[] = [];
  return { id: `${itemId('rs', executionId)}_${index}`, type: 'reasoning', status, summary };
}

/** Whether an id is that of an item of this API. */
export function isReasoningId(id: string): boolean {
  return /^rs_[0-9a-z]{26}_\d+$/.test(id);
}

export function summaryText(text: string) {
  return { type: 'summary_text', text };
}

export function outputText(text: string) {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function messageItem(executionId: string, status: string) {
  const content: unknown[] = [];
  return { id: itemId('msg', executionId), type: 'message', status, role: 'assistant', content };
}

export function functionCallItem(executionId: string, call: ToolCall, index: number) {
  return {
    id: `${itemId('fc', executionId)}_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: call.id,
    name: call.name,
    arguments: argumentsText(call),
  };
}

export function toolCallsOf({ toolCalls }: Pick<Execution, 'toolCalls'>): ToolCall[] {
  return toolCalls === null ? [] : JSON.parse(toolCalls);
}

export function argumentsText({ arguments: given }: ToolCall): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

export function itemId(prefix: 'msg' | 'fc' | 'rs', executionId: string): string {
  return `${prefix}_${toId('execution', executionId).slice(4)}`;
}

function formatWire(format: ResponseFormat | null | undefined) {
  if (!format) return { type: 'text' };
  return { type: 'json_schema', name: 'response', schema: format.schema, strict: true };
}

function toolWire({ name, description, parameters }: Tool) {
  const fields = { description: description ?? null, parameters: parameters ?? null };
  return { type: 'function', name, ...fields, strict: false };
}

function toolChoiceWire(choice: ToolChoice | null) {
  if (choice === null) return 'auto';
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.tool };
}
