import type { ExecutionStreamEvent } from '../../engine/stream/read-stream.ts';

/**
 * The events of an execution that executes tools, with the text of its last turn alone: a client of the OpenAI API cannot take back what
 * an earlier turn wrote before its calls. So the text of a turn is held until the execution ends, or the next turn voids it. Other
 * executions are passed on as they are.
 */
export async function* lastTurnOf(
  events: AsyncIterable<ExecutionStreamEvent>,
): AsyncGenerator<ExecutionStreamEvent, void, undefined> {
  let held: ExecutionStreamEvent[] | null = null;
  for await (const event of events) {
    if (event.type === 'status' && event.execution.turns !== null) held ??= [];
    if (held && event.type === 'restart') held = [];
    else if (held && (event.type === 'text' || event.type === 'reasoning')) held.push(event);
    else {
      if (held && event.type === 'end') yield* held.splice(0);
      yield event;
    }
  }
}
