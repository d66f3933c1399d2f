import type { FastifyReply } from 'fastify';
import { toId } from '../../../core/id.ts';
import { sendEvents } from '../../http/event-stream.ts';
import { executionErrorResponse } from '../../http/openai-error.ts';
import type { AgentCall } from './call-agent.ts';
import { chatFinishReason, chatToolCalls, chatUsage } from './chat-wire.ts';
import { errorText, seconds } from './response-wire.ts';
import { restartedError, ShownText } from './shown-text.ts';

/** A completion as chunks. A failure is a last chunk with `error`, because the status was sent before. */
export async function sendChatStream(agentCall: AgentCall, reply: FastifyReply): Promise<void> {
  await sendEvents(reply, chunkTexts(agentCall));
}

async function* chunkTexts(agentCall: AgentCall): AsyncGenerator<string> {
  for await (const chunk of chunks(agentCall)) yield `data: ${JSON.stringify(chunk)}\n\n`;
  yield 'data: [DONE]\n\n';
}

async function* chunks(agentCall: AgentCall): AsyncGenerator<unknown> {
  const { call, caller, executionId } = agentCall;
  const id = toId('execution', executionId);
  const common = {
    ...{
      id,
      object: 'chat.completion.chunk',
      created: seconds((await agentCall.read()).executedAt),
    },
    ...{ model: call.model, service_tier: 'default', system_fingerprint: null },
  };
  const usage = call.includesUsage ? { usage: null } : {};
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...usage,
  });
  const shown = new ShownText();
  yield chunk({ role: 'assistant', content: '' });
  for await (const event of agentCall.events()) {
    if (event.type === 'restart') shown.restart();
    else if (event.type === 'text') {
      const content = shown.add(event);
      if (content === null) {
        const { code: errorCode, message } = restartedError;
        yield executionErrorResponse({ errorCode, message }, id).body;
        return;
      }
      if (content !== '') yield chunk({ content });
    } else {
      const { execution } = event;
      if (execution.status !== 'success') {
        const errorCode = execution.errorCode ?? 'INTERNAL';
        const message = errorText(execution, caller);
        yield executionErrorResponse({ errorCode, message }, id).body;
        return;
      }
      if (execution.refusalText !== null) yield chunk({ refusal: execution.refusalText });
      const toolCalls = chatToolCalls(execution);
      if (toolCalls.length > 0) {
        yield chunk({ tool_calls: toolCalls.map((one, index) => ({ index, ...one })) });
      }
      yield chunk({}, chatFinishReason(execution));
      if (call.includesUsage) yield { ...common, choices: [], usage: chatUsage(execution) };
    }
  }
}
