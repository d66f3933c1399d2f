import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ByteShares } from '../../../core/byte-shares.ts';
import { invalidRequest, notFound } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Release } from '../../../core/shares.ts';
import { waitForDatabase } from '../../../db/wait-for-database.ts';
import type { ExecutionKey } from '../../../engine/read/executions.ts';
import {
  type ExecutionStreamEvent,
  readExecutionStream,
  type StreamStart,
} from '../../../engine/stream/read-stream.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import {
  EventStream,
  eventStreamHeaders,
  type SentEvent,
} from '../../../http/response/event-stream.ts';
import { emptyStream } from '../../../http/response/stream-response.ts';
import { type HandlerResponse, route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { mayRead, visibleExecution } from '../../people/access/visible-resources.ts';
import { streamExecution } from '../contract/executions-contract.ts';
import { sharedExecutionWire } from './execution-wire.ts';

/** Streams one execution as server-sent events. */
export function executionStreamRoutes(app: FastifyInstance, deps: ApiDeps): void {
  route(app, deps, streamExecution, async (context) => {
    const { params, query, caller, request } = context;
    const { agentId, id, ...execution } = await visibleExecution(
      deps.reads,
      caller,
      params,
      (agent) => allowAgentOrigins(context, agent),
    );
    if (!mayRead(caller, execution)) throw notFound('execution');
    const after = readStart(request.headers['last-event-id'] ?? query.after);
    if (request.method === 'HEAD') {
      return { status: 200, body: emptyStream(), headers: eventStreamHeaders };
    }
    const release = deps.shares.streams.take(caller.workspaceId);
    const key = { agentId, executionId: id };
    const stream = openStream(deps, request, { caller, key, after, release });
    return streamResponse(stream);
  });
}

/** The position after the event with this id; null for the beginning. */
export function readStart(id: string | string[] | undefined): StreamStart | null {
  if (id === undefined || id === '') return null;
  const text = String(id);
  if (!new RegExp(patterns.streamPosition.source).test(text)) {
    throw invalidRequest(`Header "Last-Event-ID" ${patterns.streamPosition.requirement}.`);
  }
  const [attempt = 0, offset = 0] = text.split('.').map(Number);
  return { attempt, offset };
}

/** The events of an execution for one reader, who has a slot until it is over. */
export interface OpenStream {
  readonly request: FastifyRequest;
  readonly events: SentEvents;
  readonly stopping: AbortController;
  readonly check: () => Promise<unknown>;
  readonly bytes: ByteShares;
}

interface Reading {
  readonly caller: Caller;
  readonly key: ExecutionKey;
  readonly after: StreamStart | null;
  /** Frees the reader's slot. */
  readonly release: Release;
}

export function openStream(
  deps: ApiDeps,
  request: FastifyRequest,
  { caller, key, after, release }: Reading,
): OpenStream {
  const stopping = new AbortController();
  stopping.signal.addEventListener('abort', release, { once: true });
  const path = {
    agentId: toId('agent', key.agentId),
    executionId: toId('execution', key.executionId),
  };
  // The key may be revoked, or the agent hidden, while the stream is open.
  const check = async () => {
    const viewer = await deps.authenticator.authenticate(request, streamExecution);
    const execution = await visibleExecution(deps.reads, viewer, path, () => {});
    if (!mayRead(viewer, execution)) throw notFound('execution');
    return viewer;
  };
  const { workspaceId } = caller;
  const source = readExecutionStream(deps, { ...key, workspaceId }, after, stopping.signal);
  const viewer = () => waitForDatabase(check, () => stopping.signal.aborted || deps.streams.closed);
  const events = new SentEvents(source, caller, viewer);
  return { request, events, stopping, check, bytes: deps.streams.bytes };
}

export function streamResponse(
  { request, events, ...options }: OpenStream,
  first: SentEvent | null = null,
  headers: Readonly<Record<string, string>> = {},
): HandlerResponse {
  if (first) events.startWith(first);
  const body = new EventStream(events, request, options);
  return { status: 200, body, headers: { ...headers, ...eventStreamHeaders } };
}

/**
 * The events as far as the caller may see them. The end is read by the caller as it is then. No generator: one that waits
 * would keep the event before, and with it a whole record for each reader.
 */
export class SentEvents {
  readonly #events: AsyncGenerator<ExecutionStreamEvent, void, undefined>;
  readonly #caller: Caller;
  readonly #check: () => Promise<Caller>;
  #first: SentEvent | null = null;

  constructor(
    events: AsyncGenerator<ExecutionStreamEvent, void, undefined>,
    caller: Caller,
    check: () => Promise<Caller>,
  ) {
    this.#events = events;
    this.#caller = caller;
    this.#check = check;
  }

  startWith(event: SentEvent): void {
    this.#first = event;
  }

  async next(): Promise<IteratorResult<SentEvent, void>> {
    if (this.#first) {
      const value = this.#first;
      this.#first = null;
      return { value };
    }
    const readsAll = this.#caller.rights.includes('read');
    for (;;) {
      const { value: event, done } = await this.#events.next();
      if (done) return { value: undefined, done };
      if (event.type === 'reasoning' && !readsAll) continue;
      const viewer = event.type === 'end' ? await this.#check() : this.#caller;
      return { value: sentEvent(event, viewer) };
    }
  }

  return() {
    return this.#events.return() as Promise<IteratorResult<SentEvent, void>>;
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

function sentEvent(event: ExecutionStreamEvent, viewer: Caller): SentEvent {
  const { type } = event;
  switch (type) {
    case 'status':
    case 'end':
      return { event: type, data: sharedExecutionWire(viewer, event.execution) };
    case 'restart':
      return { event: type, id: `${event.attempt}.0`, data: { attempt: event.attempt } };
    case 'gone':
      return { event: type, data: { reason: event.reason } };
    case 'tool': {
      const { attempt, next, toolCall } = event;
      return { event: type, id: `${attempt}.${next}`, data: { attempt, ...toolCall } };
    }
    default: {
      const { attempt, next, offset, text, turn } = event;
      const data = { attempt, offset, text, ...(turn && { turn }) };
      return { event: type, id: `${attempt}.${next}`, data };
    }
  }
}
