import { delayMs, mayRetry, sleep } from './client-retry.ts';
import { CuelineError } from './error.ts';
import type { Connection } from './method.ts';
import type { CallOptions, ClientOptions } from './request.ts';
import type { ExecutionDetail } from './wire.ts';

/** Follows an execution: its text as it arrives, across lost connections. */

/** `id` is the position after the event; `null` if it has none. */
export type StreamEvent =
  /** The record while `processing`. */
  | Event<'status', ExecutionDetail>
  /** `offset` counts the UTF-16 units of text before it. */
  | Event<'text', StreamedText>
  /** `offset` counts the UTF-16 units of reasoning before it. */
  | Event<'reasoning', StreamedText>
  | Event<'tool', { attempt: number; id: string; name: string; arguments: unknown }>
  /** The text so far is void: a later attempt begins, or the next turn after calls of tools. */
  | Event<'restart', { attempt: number }>
  /** The text does not exist any more. */
  | Event<'gone', { reason: string }>
  /** The ended record. The last event. */
  | Event<'end', ExecutionDetail>;

interface Event<Type extends string, Data> {
  readonly type: Type;
  readonly id: string | null;
  readonly data: Data;
}

export interface StreamedText {
  readonly attempt: number;
  /** Of the model, if the execution calls tools. Absent from what was read from its record. */
  readonly turn?: number;
  readonly offset: number;
  readonly text: string;
}

export interface StreamOptions extends CallOptions {
  /** Continues after the event with this `id`. */
  readonly after?: string;
}

/** Consecutive failures that a stream tolerates, for example during a restart of the server. */
const retries = 10;
/** The server sends a comment every 15 seconds. */
const silenceMsMax = 60_000;

export function streams({ client, open }: Connection) {
  /**
   * The events of an execution until its end. A lost connection is opened again at the position where it was lost.
   */
  async function* stream(
    agentId: string,
    executionId: string,
    { after, signal }: StreamOptions = {},
  ): AsyncGenerator<StreamEvent, void, undefined> {
    const route = 'GET /api/v1/agents/{agentId}/executions/{executionId}/stream';
    const input = { params: { agentId, executionId } };
    let last = after ?? null;
    let failures = 0;
    for (;;) {
      try {
        const headers = {
          accept: 'text/event-stream',
          ...(last !== null && { 'last-event-id': last }),
        };
        const body = await open(route, input, { headers, ...(signal && { signal }) });
        for await (const event of eventsOf(body, client)) {
          failures = 0;
          last = event.id ?? last;
          yield event;
          if (event.type === 'end') return;
        }
        throw lost();
      } catch (error) {
        signal?.throwIfAborted();
        failures++;
        const failure = error instanceof CuelineError ? error : lost(error);
        if (failures > retries || !mayRetry(failure, true)) throw failure;
        await (client.sleep ?? sleep)(delayMs(failure, failures), signal);
      }
    }
  }

  return { stream };
}

function lost(cause?: unknown): CuelineError {
  return new CuelineError('CONNECTION_FAILED', 'The connection was lost.', { cause });
}

/** The server-sent events of a body. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  { json = JSON }: ClientOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body.pipeThrough(new TextDecoderStream() as Decoder).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await within(reader.read());
      if (done) return;
      const events = (rest + value).split('\n\n');
      rest = events.pop() ?? '';
      for (const text of events) {
        const fields = fieldsOf(text);
        const type = fields.get('event');
        if (type === undefined) continue;
        const data = json.parse(fields.get('data') ?? 'null');
        yield { type, id: fields.get('id') ?? null, data } as StreamEvent;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

type Decoder = ReadableWritablePair<string, Uint8Array>;

function fieldsOf(text: string): Map<string, string> {
  return new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
    }),
  );
}

/** A connection may die without a word. */
async function within<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lost()), silenceMsMax);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
