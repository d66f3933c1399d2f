import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CallFailure, notFound } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { waitForDatabase } from '../../../db/wait-for-database.ts';
import type { StreamWatch } from '../../../engine/stream/live-streams.ts';
import {
  readExecutionStream,
  type StreamSource,
  type StreamStart,
} from '../../../engine/stream/read-stream.ts';
import { readWithinBytes } from '../../../engine/stream/read-within-bytes.ts';
import {
  EventStream,
  eventStreamHeaders,
  type SentEvent,
} from '../../../http/response/event-stream.ts';
import { emptyStream } from '../../../http/response/stream-response.ts';
import { toWire } from '../../../http/response/to-wire.ts';
import { route } from '../../../http/route.ts';
import { readStart, SentEvents } from '../../executions/routes/stream.ts';
import { WorkflowRunDetail } from '../contract/workflow-run-record.ts';
import { streamWorkflowRun } from '../contract/workflow-runs-contract.ts';
import type { WorkflowRunDetailRow } from '../statements/workflow-history.ts';
import { visibleRun } from './visible-run.ts';
import type { WorkflowDeps } from './workflow-deps.ts';
import { type RunPath, readRun } from './workflow-runs-routes.ts';

/** Streams the states of a workflow run's steps, and the text of one of them. */
export function workflowRunStreamRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  route(app, deps, streamWorkflowRun, async ({ params, query, caller, request }) => {
    const row = await readRun(deps, caller, params, true);
    const step = query.step === undefined ? null : requireStep(row, query.step);
    const after = readStart(request.headers['last-event-id'] ?? query.after);
    if (request.method === 'HEAD') {
      return { status: 200, body: emptyStream(), headers: eventStreamHeaders };
    }
    const release = deps.shares.streams.take(caller.workspaceId);
    const stopping = new AbortController();
    stopping.signal.addEventListener('abort', release, { once: true });
    const check = () => authorized(deps, request, params);
    const reader = new RunReader(deps, { params, step, after, caller, check, stopping });
    const body = new EventStream(reader.events(row.id), request, {
      ...{ stopping, check, bytes: deps.streams.bytes },
    });
    return { status: 200, body, headers: eventStreamHeaders };
  });
}

function requireStep({ definition }: WorkflowRunDetailRow, name: string): string {
  const step = definition.steps.find((one) => one.name === name);
  if (!step) throw notFound('step', 'workflow run');
  if (!step.forEach) return name;
  const message = `Step "${name}" has items, each with an execution of its own: stream one of those.`;
  throw new CallFailure('INVALID_REQUEST', message);
}

async function authorized(
  deps: WorkflowDeps,
  request: FastifyRequest,
  params: RunPath,
): Promise<Caller> {
  const caller = await deps.authenticator.authenticate(request, streamWorkflowRun);
  await readRun(deps, caller, params, true);
  return caller;
}

interface RunReading {
  readonly params: RunPath;
  /** Whose text is streamed; null for none. */
  readonly step: string | null;
  readonly after: StreamStart | null;
  readonly caller: Caller;
  readonly check: () => Promise<Caller>;
  readonly stopping: AbortController;
}

type Step = ReturnType<typeof visibleRun>['steps'][number];

interface OfferedText {
  readonly event: SentEvent;
  /** Called once the client has it. */
  readonly onTaken: () => void;
}

/** Reads no faster than its events are taken, and holds at most one text and the run at its end. */
class RunReader {
  readonly #deps: WorkflowDeps;
  readonly #reading: RunReading;
  readonly #states = new Map<string, string>();
  #executionId: string | null = null;
  /** The next event of the step's execution. */
  #text: OfferedText | null = null;
  #textsEnd: Promise<void> = Promise.resolve();
  /** Executions whose texts are being read, or wait for those before. */
  #following = 0;
  #textFailure: unknown = null;
  #hasChanged = true;
  #wake = () => {};

  constructor(deps: WorkflowDeps, reading: RunReading) {
    this.#deps = deps;
    this.#reading = reading;
  }

  async *events(runId: string): AsyncGenerator<SentEvent, void, undefined> {
    const { stopping } = this.#reading;
    const watch = this.#deps.streams.watch(runId);
    const stop = () => watch.stop();
    stopping.signal.addEventListener('abort', stop, { once: true });
    void this.#notice(watch);
    try {
      for (let isEnded = false; !this.#isOver(); ) {
        if (this.#hasChanged && !isEnded) {
          this.#hasChanged = false;
          const read = await this.#readSteps();
          yield* read.events;
          isEnded = read.isEnded;
        }
        if (this.#textFailure) throw this.#textFailure;
        if (this.#text) yield* this.#takeText(this.#text);
        else if (isEnded && this.#following === 0) return yield* this.#end();
        else if (isEnded || !this.#hasChanged) await this.#woken();
      }
    } finally {
      stop();
    }
  }

  /** Tells changes of the run from texts, for which the run need not be read. */
  async #notice(watch: StreamWatch): Promise<void> {
    while (!this.#isOver()) {
      await watch.changed();
      this.#hasChanged = true;
      this.#wake();
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #readSteps(): Promise<{ readonly events: SentEvent[]; readonly isEnded: boolean }> {
    const { params, caller } = this.#reading;
    const row = await this.#read(() => readRun(this.#deps, caller, params, true));
    const { steps } = visibleRun(caller, row);
    const events = this.#changedSteps(steps);
    this.#followText(steps);
    return { events, isEnded: row.status !== 'processing' };
  }

  async *#end(): AsyncGenerator<SentEvent, void, undefined> {
    const { params, caller, check, stopping } = this.#reading;
    // As the caller is authorized now.
    const viewer = await this.#read(check);
    const { bytes } = this.#deps.streams;
    const counted = await readWithinBytes(
      { bytes, workspaceId: caller.workspaceId, signal: stopping.signal },
      () => this.#read(() => readRun(this.#deps, viewer, params)),
    );
    if (!counted) return;
    try {
      yield { event: 'end', data: toWire(WorkflowRunDetail, visibleRun(viewer, counted.value)) };
    } finally {
      counted.free();
    }
  }

  #read<T>(work: () => Promise<T>): Promise<T> {
    return waitForDatabase(work, () => this.#isOver());
  }

  #isOver(): boolean {
    return this.#reading.stopping.signal.aborted || this.#deps.streams.closed;
  }

  #changedSteps(steps: readonly Step[]): SentEvent[] {
    return steps.flatMap(({ name, status, executionId }) => {
      const state = `${status} ${executionId}`;
      if (this.#states.get(name) === state) return [];
      this.#states.set(name, state);
      return {
        event: 'step',
        data: {
          ...{ name, status },
          ...(executionId && { executionId: toId('execution', executionId) }),
        },
      };
    });
  }

  *#takeText({ event, onTaken }: OfferedText): Generator<SentEvent, void, undefined> {
    yield event;
    this.#text = null;
    onTaken();
  }

  /** Follows the execution of the step, which is another one after a fallback. */
  #followText(steps: readonly Step[]): void {
    const { step, caller } = this.#reading;
    const { executionId = null, agentId = null } = steps.find(({ name }) => name === step) ?? {};
    if (executionId === null || agentId === null || executionId === this.#executionId) return;
    const isFirst = this.#executionId === null;
    this.#executionId = executionId;
    const source = { agentId, executionId, workspaceId: caller.workspaceId };
    const before = this.#textsEnd;
    this.#following++;
    this.#textsEnd = before
      .then(() => this.#readTexts(source, isFirst))
      .catch((error: unknown) => {
        this.#textFailure = error;
      })
      .finally(() => {
        this.#following--;
        this.#wake();
      });
  }

  async #readTexts(source: StreamSource, isFirst: boolean): Promise<void> {
    const { after, caller, check, stopping } = this.#reading;
    if (!isFirst) await this.#offer({ event: 'restart', id: '1.0', data: { attempt: 1 } });
    const start = isFirst ? after : null;
    const events = readExecutionStream(this.#deps, source, start, stopping.signal);
    for await (const event of new SentEvents(events, caller, () => this.#read(check))) {
      if (event.event === 'status' || event.event === 'end') continue;
      await this.#offer(event);
    }
  }

  /** Until the client has it. */
  #offer(event: SentEvent): Promise<void> {
    const { signal } = this.#reading.stopping;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const onTaken = () => {
        signal.removeEventListener('abort', onTaken);
        resolve();
      };
      signal.addEventListener('abort', onTaken);
      this.#text = { event, onTaken };
      this.#wake();
    });
  }
}
