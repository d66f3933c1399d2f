import type { Execution } from '../../core/execution/execution-fields.ts';
import { toId } from '../../core/id.ts';
import type { SentEvent } from '../../http/response/event-stream.ts';
import { RawJson } from '../../http/response/json-response.ts';
import { executionErrorResponse } from '../../http/response/openai-error.ts';
import type { AgentCall } from './call-agent.ts';
import { chatFinishReason, chatToolCalls, chatUsage } from './chat-wire.ts';
import { errorText, mayReadReasoning, seconds } from './response-wire.ts';
import { restartedError, ShownText } from './shown-text.ts';

/** A completion as chunks. A failure is a last chunk with `error`, because the status was sent before. */
export async function* chatEvents(
  agentCall: AgentCall,
  signal: AbortSignal,
  onEnd: () => void,
): AsyncGenerator<SentEvent, void, undefined> {
  let isEnded = false;
  const end = () => {
    isEnded = true;
    onEnd();
  };
  for await (const data of chunks(agentCall, signal, end)) yield { data };
  if (signal.aborted) return;
  // The server shuts down, or the record is gone: a stream without its end must not look complete.
  if (!isEnded) throw new Error('The stream ended before its execution.');
  yield { data: new RawJson('[DONE]') };
}

async function* chunks(
  agentCall: AgentCall,
  signal: AbortSignal,
  onEnd: () => void,
): AsyncGenerator<unknown> {
  const { call, caller, executionId } = agentCall;
  const id = toId('execution', executionId);
  const common = {
    ...{ id, object: 'chat.completion.chunk', created: await createdSeconds(agentCall) },
    ...{ model: call.model, service_tier: 'default', system_fingerprint: null },
  };
  const chunkOf: ChunkOf = (delta, finish_reason = null) => ({
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(call.includesUsage && { usage: null }),
  });
  const shown = new ShownText();
  let thoughts = mayReadReasoning(caller) ? new ShownText() : null;
  yield chunkOf({ role: 'assistant', content: '' });
  for await (const event of agentCall.events(signal)) {
    if (event.type === 'restart') {
      shown.restart();
      thoughts?.restart();
    }
    if (event.type === 'reasoning' && thoughts) {
      const reasoning_content = thoughts.add(event);
      // Another attempt thinks otherwise; what was sent cannot be taken back.
      if (reasoning_content === null) thoughts = null;
      else if (reasoning_content !== '') yield chunkOf({ reasoning_content });
    }
    const content = event.type === 'text' ? shown.add(event) : '';
    const isVoid = event.type === 'end' && event.execution.status === 'success' && shown.isShorter;
    if (content === null || isVoid) {
      onEnd();
      const { code: errorCode, message } = restartedError;
      yield executionErrorResponse({ errorCode, message }, id).body;
      return;
    }
    if (content !== '') yield chunkOf({ content });
    if (event.type !== 'end') continue;
    onEnd();
    yield* lastChunks(agentCall, event.execution, chunkOf);
    const isUsed = call.includesUsage && event.execution.status === 'success';
    if (isUsed) yield { ...common, choices: [], usage: chatUsage(event.execution) };
  }
}

/** A function of its own: its caller would keep the whole record. */
async function createdSeconds(agentCall: AgentCall): Promise<number> {
  return seconds((await agentCall.read()).row.executedAt);
}

type ChunkOf = (delta: object, finishReason?: string | null) => object;

function* lastChunks(
  { caller }: AgentCall,
  execution: Execution,
  chunkOf: ChunkOf,
): Generator<unknown> {
  if (execution.status !== 'success') {
    const errorCode = execution.errorCode ?? 'INTERNAL';
    const failure = { errorCode, message: errorText(execution, caller) };
    yield executionErrorResponse(failure, toId('execution', execution.id)).body;
    return;
  }
  if (execution.refusalText !== null) yield chunkOf({ refusal: execution.refusalText });
  const toolCalls = chatToolCalls(execution);
  if (toolCalls.length > 0) {
    yield chunkOf({ tool_calls: toolCalls.map((one, index) => ({ index, ...one })) });
  }
  yield chunkOf({}, chatFinishReason(execution));
}
