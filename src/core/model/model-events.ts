import type { ToolCall } from '../agent/messages.ts';
import {
  type Cost,
  type ModelEvent,
  ModelFailure,
  type ModelResponse,
  type Usage,
} from './model-port.ts';

export type Emit = (event: ModelEvent) => void;

/**
 * The events that `run` emits. A `ModelFailure` that it throws becomes the last event; any other error is thrown. It
 * runs ahead of its reader: the size of a response is limited where it is received.
 */
export async function* modelEvents(
  run: (emit: Emit) => Promise<void>,
): AsyncGenerator<ModelEvent, void, undefined> {
  const events: ModelEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let ended = false;
  const emit = (event: ModelEvent) => {
    events.push(event);
    wake.resolve();
  };
  const running = run(emit)
    .catch((error: unknown) => {
      if (!(error instanceof ModelFailure)) throw error;
      emit({ type: 'failure', failure: error });
    })
    .finally(() => {
      ended = true;
      wake.resolve();
    });
  // Thrown below; until then, nobody awaits it.
  running.catch(() => {});
  while (!ended || events.length > 0) {
    await wake.promise;
    wake = Promise.withResolvers();
    if (ended) wake.resolve();
    yield* events.splice(0);
  }
  await running;
}

/** The events of a response after its text and reasoning. */
export function emitEnd(emit: Emit, response: Omit<ModelResponse, 'text'>): void {
  const { toolCalls = [], usage, cost, ...finish } = response;
  for (const toolCall of toolCalls) emit({ type: 'toolCall', toolCall });
  emit({ type: 'usage', usage, cost });
  emit({ type: 'finish', ...finish });
}

/**
 * Reads a call to its end.
 * @throws {ModelFailure} if the call failed
 */
export async function collectResponse(
  events: AsyncIterable<ModelEvent>,
  onEvent?: Emit,
): Promise<ModelResponse> {
  const texts: string[] = [];
  const toolCalls: ToolCall[] = [];
  let spent: { usage: Usage; cost: Cost } | null = null;
  let response: ModelResponse | null = null;
  for await (const event of events) {
    onEvent?.(event);
    if (event.type === 'failure') throw event.failure;
    if (event.type === 'text') texts.push(event.text);
    if (event.type === 'toolCall') toolCalls.push(event.toolCall);
    if (event.type === 'usage') spent = event;
    if (event.type !== 'finish' || !spent) continue;
    const { type: _, ...finish } = event;
    const { usage, cost } = spent;
    const called = toolCalls.length > 0 && { toolCalls };
    response = { text: texts.join(''), ...called, usage, cost, ...finish };
  }
  if (!response) throw new Error('A model call has ended without a finish.');
  return response;
}
