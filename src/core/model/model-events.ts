import type { ToolCall } from '../agent/messages.ts';
import type { Emit, ModelCall, ModelEvent, ModelPort, ModelResponse } from './model-port.ts';

/** The events of a response after its text and reasoning. */
export function emitEnd(emit: Emit, response: Omit<ModelResponse, 'text'>): void {
  const { toolCalls = [], usage, cost, ...finish } = response;
  for (const toolCall of toolCalls) emit({ type: 'toolCall', toolCall });
  emit({ type: 'usage', usage, cost });
  emit({ type: 'finish', ...finish });
}

/**
 * Reads a call to its end.
 * @throws what the call throws
 */
export async function collectResponse(
  models: ModelPort,
  call: ModelCall,
  onEvent?: Emit,
): Promise<ModelResponse> {
  const texts: string[] = [];
  const toolCalls: ToolCall[] = [];
  const end: { usage?: UsageEvent; finish?: FinishEvent } = {};
  await models.call(call, (event) => {
    onEvent?.(event);
    if (event.type === 'text') texts.push(event.text);
    else if (event.type === 'toolCall') toolCalls.push(event.toolCall);
    else if (event.type === 'usage') end.usage = event;
    else if (event.type === 'finish') end.finish = event;
  });
  if (!end.usage || !end.finish) throw new Error('A model call has ended without a finish.');
  const { usage, cost } = end.usage;
  const { type: _, ...finish } = end.finish;
  const called = toolCalls.length > 0 && { toolCalls };
  return { text: texts.join(''), ...called, usage, cost, ...finish };
}

type UsageEvent = Extract<ModelEvent, { type: 'usage' }>;
type FinishEvent = Extract<ModelEvent, { type: 'finish' }>;
